"""Which responses of receivers are acknowledgements; the receivers write them byte by byte."""

from __future__ import annotations

import json
import queue
import socket
import threading
from contextlib import contextmanager

import pytest
from engines.clock import HANGS
from values.programs import PROJECT

from gcpx_emulator.server import listen

TOPIC = f"/v1/projects/{PROJECT}/topics/uploads"
SUBSCRIPTION = f"/v1/projects/{PROJECT}/subscriptions/worker"
DONE = b"HTTP/1.1 204 No Content\r\n\r\n"


@contextmanager
def _receiver(*answers):
    """Give each connection one of these answers, then 204, and keep it open: who waits for more waits for long."""
    listener, pushed = listen(), queue.Queue()

    def answer():
        texts, open_ = iter(answers), []
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                break
            open_.append(connection)
            pushed.put(_request(connection))
            connection.sendall(next(texts, DONE))
        for connection in open_:
            connection.close()

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/push?token=own", pushed
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def _request(connection):
    with connection.makefile("rb") as stream:
        first = stream.readline()
        headers = dict(line.decode().rstrip().lower().split(": ", 1) for line in iter(stream.readline, b"\r\n"))
        return first, headers, json.loads(stream.read(int(headers["content-length"])))


@pytest.fixture
def api(http):
    http.put(TOPIC, json={})
    return http


def _publish(api, url):
    """Push one message; the deadline is longer than the test waits for anything."""
    body = {"topic": TOPIC.removeprefix("/v1/"), "ackDeadlineSeconds": 600, "pushConfig": {"pushEndpoint": url}}
    api.put(SUBSCRIPTION, json=body).raise_for_status()
    api.post(f"{TOPIC}:publish", json={"messages": [{"data": "eA=="}]}).raise_for_status()


def _attempts(cloud, number):
    return [(entry["status"], entry["error"]) for entry in cloud.deliveries(number)]


@pytest.mark.parametrize("line", [
    "102 Processing", "102 ", "200 OK", "201 Created", "202 Accepted", "204 No Content", "206 Partial Content", "299 Any",
])  # fmt: skip
def test_102_and_every_2xx_status_are_acknowledgements(cloud, api, line):
    with _receiver(f"HTTP/1.1 {line}\r\n\r\n".encode()) as (url, pushed):
        _publish(api, url)
        assert _attempts(cloud, 1) == [(int(line[:3]), None)]
        first, headers, body = pushed.get(timeout=HANGS)

    assert cloud.get(f"{SUBSCRIPTION.removeprefix('/v1/')}/messages/{body['message']['messageId']}") is None
    assert first == b"POST /push?token=own HTTP/1.1\r\n"
    assert (headers["host"], headers["content-type"]) == (url[7:].partition("/")[0], "application/json")


@pytest.mark.parametrize("line", ["301 Moved Permanently", "304 Not Modified", "400 Bad Request", "500 Oops"])
def test_any_other_status_leads_to_another_push(cloud, api, line):
    with _receiver(f"HTTP/1.1 {line}\r\n\r\n".encode()) as (url, _):
        _publish(api, url)

        assert _attempts(cloud, 2) == [(int(line[:3]), None), (204, None)]


@pytest.mark.parametrize("before", ["100 Continue", "103 Early Hints"])
def test_other_informational_statuses_are_not_a_final_answer(cloud, api, before):
    with _receiver(f"HTTP/1.1 {before}\r\n\r\nHTTP/1.1 500 Oops\r\n\r\n".encode()) as (url, _):
        _publish(api, url)

        assert _attempts(cloud, 2) == [(500, None), (204, None)]


@pytest.mark.parametrize("answer", [b"hello\r\n\r\n", b"HTTP/1.1 999999 X\r\n\r\n", b"HTTP/1.1 101 Switching\r\n\r\n"])
def test_a_response_that_is_not_http_leads_to_another_push(cloud, api, answer):
    with _receiver(answer) as (url, _):
        _publish(api, url)

        assert _attempts(cloud, 2) == [(None, "BrokenAnswerError"), (204, None)]


def test_an_endpoint_that_refuses_connections_is_tried_again(cloud, api):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        _publish(api, f"http://127.0.0.1:{silent.getsockname()[1]}/push")

        assert _attempts(cloud, 2)[:2] == [(None, "ConnectionRefusedError")] * 2


@pytest.mark.parametrize("endpoint", [
    "http://127.0.0.1:0/push", "http://127.0.0.1:99999/push", "http://127.0.0.1:x/push", "http://[::1/push",
    "http://example.com/push", "https://", "ftp://127.0.0.1/push",
])  # fmt: skip
def test_an_invalid_endpoint_is_refused(api, endpoint):
    body = {"topic": TOPIC.removeprefix("/v1/"), "pushConfig": {"pushEndpoint": endpoint}}
    answer = api.put(SUBSCRIPTION, json=body)

    assert answer.status_code == 400
    assert "push endpoint" in answer.json()["error"]["message"]
