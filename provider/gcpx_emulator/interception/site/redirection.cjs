// Leads programs of Node.js from Google's hosts to an emulator, also by clients that ignore the variables of proxies.
//
// Node.js loads this file at its start, because `gcpx-emulator run` names it in NODE_OPTIONS. google-gax, for example,
// uses no proxy.

const net = require("net");

const INTERCEPTED = new RegExp(`^(?:${process.env.GCPX_EMULATOR_INTERCEPTED})$`);

function led(options) {
  const host = String(options.host || "").toLowerCase().replace(/\.$/, "");
  if (!INTERCEPTED.test(host)) return options;
  const there = Number(options.port) === 80 ? process.env.GCPX_EMULATOR_HOST : process.env.GCPX_EMULATOR_GOOGLE;
  const [address, port] = there.split(":");
  return {...options, host: address, port: Number(port)};
}

const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...given) {
  // Node.js itself calls this with a list that has the options first.
  const [first, ...rest] = given;
  if (Array.isArray(first)) {
    const list = [led(first[0]), ...first.slice(1)];
    for (const symbol of Object.getOwnPropertySymbols(first)) list[symbol] = first[symbol];
    return connect.call(this, list, ...rest);
  }
  return first !== null && typeof first === "object" ? connect.call(this, led(first), ...rest) : connect.apply(this, given);
};
