// Steps of a program that uses a client; each is reported in a line of JSON, also if it fails.
exports.step = async (name, body) => {
  let error = null;
  try {
    await body();
  } catch (raised) {
    error = `${raised.name}: ${raised.message}`;
  }
  console.log(JSON.stringify({step: name, error}));
};
