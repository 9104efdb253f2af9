#!/usr/bin/env python3
"""A server that speaks the three APIs and misbehaves on demand. Only the standard library.

    server.py [--delay SECONDS] [--pieces N]      (or N in $FAULT_SERVER_PIECES)

prints "port N" and serves until it is killed. The first part of the path says what to do, the
second tells one caller's attempts from another's: http://127.0.0.1:N/SCENARIO/ID is the base_url of a model. The key has
to be KEY. SCENARIOS below says what there is; the numbers in the answers are those that tests/unit/llm expects.
"""
import argparse
import asyncio
import collections
import email.utils
import json
import os
import sys
import time

KEY = "test-secret-0123456789abcdef"
TEXT = "Käse → `__global__ void k();`\n"
REASONING = "Let me think. ✓"
attempts = collections.Counter()  # by scenario and id
active = collections.Counter()
not_before = {}
options = argparse.Namespace(delay=0.02, pieces=int(os.environ.get("FAULT_SERVER_PIECES", "10")))


# --- what the three APIs look like --------------------------------------------------------------------------------

def sse(data, event=None):
    text = data if isinstance(data, str) else json.dumps(data)
    return ((f"event: {event}\n" if event else "") + f"data: {text}\n\n").encode()


def pieces_of(text, count):
    step = max(1, len(text) // count)
    return [text[i:i + step] for i in range(0, len(text), step)]


class OpenAI:
    words = {"stop": "stop", "length": "length", "refusal": "content_filter"}

    @staticmethod
    def chunk(**members):
        return sse({"id": "req-1", "object": "chat.completion.chunk", "model": "served-model",
                    "system_fingerprint": "fp-1", "provider": "Upstream", **members})

    @classmethod
    def delta(cls, finish=None, **delta):
        return cls.chunk(choices=[{"index": 0, "delta": delta, "finish_reason": finish}], usage=None)

    @classmethod
    def head(cls):
        return [cls.delta(role="assistant", content=""), cls.delta(reasoning_content=REASONING)]

    @classmethod
    def text(cls, text):
        return cls.delta(content=text)

    @classmethod
    def tail(cls, finish):
        return [cls.delta(finish=cls.words[finish]),
                cls.chunk(choices=[], usage={"prompt_tokens": 1000, "completion_tokens": 50,
                                             "prompt_tokens_details": {"cached_tokens": 200},
                                             "completion_tokens_details": {"reasoning_tokens": 30}}),
                sse("[DONE]")]

    @staticmethod
    def error(kind):
        return {
            "auth": (401, {"message": "Incorrect API key provided", "type": "invalid_request_error",
                           "code": "invalid_api_key"}),
            "quota": (429, {"message": "You exceeded your current quota", "type": "insufficient_quota",
                            "code": "insufficient_quota"}),
            "overflow": (400, {"message": "This model's maximum context length is 8192 tokens.",
                               "type": "invalid_request_error", "code": "context_length_exceeded"}),
            "rate": (429, {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}),
            "server": (500, {"message": "The server had an error", "type": "server_error", "code": None}),
            "stream": (200, {"message": "Provider returned error", "code": 502}),
            "bad": (400, {"message": "Unknown parameter: 'min_p'", "type": "invalid_request_error", "code": None}),
            "blocked": (400, {"message": "Invalid prompt: flagged", "code": "content_policy_violation"}),
        }[kind]

    @staticmethod
    def wrap(error):
        return {"error": error}


class Anthropic(OpenAI):
    words = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal"}

    @staticmethod
    def event(kind, **members):
        return sse({"type": kind, **members}, kind)

    @classmethod
    def head(cls):
        usage = {"input_tokens": 700, "cache_read_input_tokens": 200, "cache_creation_input_tokens": 100,
                 "output_tokens": 1}
        return [cls.event("message_start", message={"id": "req-1", "model": "served-model", "role": "assistant",
                                                    "content": [], "usage": usage}),
                cls.event("content_block_start", index=0, content_block={"type": "thinking", "thinking": ""}),
                cls.event("ping"),
                cls.event("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": REASONING}),
                cls.event("content_block_delta", index=0, delta={"type": "signature_delta", "signature": "c2ln"}),
                cls.event("content_block_stop", index=0),
                cls.event("content_block_start", index=1, content_block={"type": "text", "text": ""})]

    @classmethod
    def text(cls, text):
        return cls.event("content_block_delta", index=1, delta={"type": "text_delta", "text": text})

    @classmethod
    def tail(cls, finish):
        return [cls.event("content_block_stop", index=1),
                cls.event("message_delta", delta={"stop_reason": cls.words[finish], "stop_sequence": None},
                          usage={"output_tokens": 50}),
                cls.event("message_stop")]

    @staticmethod
    def error(kind):
        return {
            "auth": (401, {"type": "authentication_error", "message": "invalid x-api-key"}),
            "quota": (400, {"type": "invalid_request_error", "message": "Your credit balance is too low to access"}),
            "overflow": (400, {"type": "invalid_request_error",
                               "message": "prompt is too long: 210000 tokens > 200000 maximum"}),
            "rate": (429, {"type": "rate_limit_error", "message": "Number of requests has exceeded your limit"}),
            "server": (529, {"type": "overloaded_error", "message": "Overloaded"}),
            "stream": (200, {"type": "overloaded_error", "message": "Overloaded"}),
            "bad": (400, {"type": "invalid_request_error", "message": "thinking.budget_tokens: Input should be"}),
            "blocked": (400, {"type": "invalid_request_error",
                              "message": "Output blocked by content management policy"}),
        }[kind]

    @staticmethod
    def wrap(error):
        return {"type": "error", "error": error, "request_id": "req-e"}


class Gemini(OpenAI):
    words = {"stop": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}

    @staticmethod
    def chunk(parts, **members):
        candidate = {"content": {"parts": parts, "role": "model"}, "index": 0, **members.pop("candidate", {})}
        return sse({"candidates": [candidate], "modelVersion": "served-model", "responseId": "req-1", **members})

    @classmethod
    def head(cls):
        return [cls.chunk([{"text": REASONING, "thought": True}])]

    @classmethod
    def text(cls, text):
        return cls.chunk([{"text": text}])

    @classmethod
    def tail(cls, finish):
        usage = {"promptTokenCount": 1000, "cachedContentTokenCount": 200, "candidatesTokenCount": 20,
                 "thoughtsTokenCount": 30, "totalTokenCount": 1050}
        return [cls.chunk([{"text": ""}], candidate={"finishReason": cls.words[finish]}, usageMetadata=usage)]

    @staticmethod
    def error(kind):
        def quota(name):
            return [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": name}]},
                    {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.02s"}]
        return {
            "auth": (400, {"code": 400, "message": "API key not valid. Please pass a valid API key.",
                           "status": "INVALID_ARGUMENT"}),
            "quota": (429, {"code": 429, "message": "You exceeded your current quota", "status": "RESOURCE_EXHAUSTED",
                            "details": quota("GenerateRequestsPerDayPerProjectPerModel")}),
            "overflow": (400, {"code": 400, "status": "INVALID_ARGUMENT",
                               "message": "The input token count (1100000) exceeds the maximum number of tokens "
                                          "allowed (1048576)."}),
            "rate": (429, {"code": 429, "message": "You exceeded your current quota", "status": "RESOURCE_EXHAUSTED",
                           "details": quota("GenerateRequestsPerMinutePerProjectPerModel")}),
            "server": (503, {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}),
            "stream": (200, {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}),
            "bad": (400, {"code": 400, "message": "Invalid JSON payload received.", "status": "INVALID_ARGUMENT"}),
            "blocked": (200, None),
        }[kind]


def api_of(path):
    if path.endswith("/chat/completions"):
        return OpenAI
    if path.endswith("/v1/messages"):
        return Anthropic
    if path.endswith("/v1beta/models/some-model:streamGenerateContent?alt=sse"):
        return Gemini
    return None


# --- one request ----------------------------------------------------------------------------------------------------

class Exchange:
    """One request, and the ways to answer it."""

    def __init__(self, writer, api, headers, body, name):
        self.writer, self.api, self.headers, self.body, self.name = writer, api, headers, body, name
        self.attempt = attempts[name]
        self.keep = True

    async def send(self, data):
        self.writer.write(data)
        await self.writer.drain()

    async def chunk(self, data):
        await self.send(b"%x\r\n%s\r\n" % (len(data), data))

    async def begin(self, kind="text/event-stream; charset=utf-8", status=200, **headers):
        lines = [f"HTTP/1.1 {status} Reason", f"Content-Type: {kind}", "Transfer-Encoding: chunked"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.send(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))

    async def end(self):
        await self.send(b"0\r\n\r\n")

    async def error(self, kind, **headers):
        status, error = self.api.error(kind)
        await self.begin("application/json", status, **headers)
        await self.chunk(json.dumps(self.api.wrap(error)).encode())
        await self.end()

    def events(self, text=TEXT, finish="stop"):
        texts = [self.api.text(piece) for piece in pieces_of(text, options.pieces)] if text else []
        return self.api.head() + texts + self.api.tail(finish)

    async def answer(self, **how):
        await self.begin()
        for event in self.events(**how):
            await self.chunk(event)
        await self.end()

    def cut(self):
        self.writer.transport.abort()
        self.keep = False


async def answer_not_before(x, then):
    """Whoever comes too early is told so, and does not come again."""
    if time.time() < then:
        await x.error("bad")
    else:
        await x.answer()


async def rate_limit(x):
    if x.attempt == 1:
        not_before[x.name] = time.time() + 0.4
        await x.error("rate", retry_after="0.4")
    else:
        await answer_not_before(x, not_before[x.name])


async def rate_limit_date(x):
    if x.attempt == 1:
        not_before[x.name] = int(time.time()) + 2  # dates have whole seconds
        await x.error("rate", retry_after=email.utils.formatdate(not_before[x.name], usegmt=True))
    else:
        await answer_not_before(x, not_before[x.name])


async def rate_limit_ms(x):
    if x.attempt == 1:
        not_before[x.name] = time.time() + 0.4
        await x.error("rate", retry_after_ms="400", retry_after="0")
    else:
        await answer_not_before(x, not_before[x.name])


async def rate_limit_long(x):
    await x.error("rate", retry_after="86400")


async def rate_limit_forever(x):
    await x.error("rate", retry_after="0.01")


async def crowd(x):
    """At most four at once; the others have to come again, nobody says when."""
    if active["crowd"] >= 4:
        await x.error("rate")
        return
    active["crowd"] += 1
    try:
        await drip(x)
    finally:
        active["crowd"] -= 1


async def server_error(x):
    if x.attempt <= 2:
        await x.error("server")
    else:
        await x.answer()


async def server_error_forever(x):
    await x.error("server")


async def bad_gateway(x):
    if x.attempt == 1:
        await x.begin("text/html", 502)
        await x.chunk(b"<html><h1>502 Bad Gateway</h1></html>")
        await x.end()
    else:
        await x.answer()


async def cut(x):
    if x.attempt > 1:
        await x.answer()
        return
    await x.begin()
    for event in x.events()[:-4]:
        await x.chunk(event)
    await asyncio.sleep(0.05)
    x.cut()


async def cut_inside(x):
    """The connection ends in the middle of an event, but properly."""
    if x.attempt > 1:
        await x.answer()
        return
    await x.begin()
    await x.chunk(x.events()[0][:-7])
    await x.end()


async def cut_forever(x):
    await x.begin()
    for event in x.events()[:-4]:
        await x.chunk(event)
    await asyncio.sleep(0.05)
    x.cut()


async def cut_after_end(x):
    """All of the answer, but the chunked encoding never ends."""
    await x.begin()
    for event in x.events():
        await x.chunk(event)
    await asyncio.sleep(0.05)
    x.cut()


async def hold_after_end(x):
    await x.begin()
    for event in x.events():
        await x.chunk(event)
    await asyncio.sleep(60)


async def drop(x):
    if x.attempt == 1:
        x.cut()
    else:
        await x.answer()


async def drip(x):
    await x.begin()
    for event in x.events():
        await asyncio.sleep(options.delay)
        await x.chunk(event)
    await x.end()


async def bytewise(x):
    """Every byte in a chunk of its own, lines end with CRLF, and comments in between."""
    await x.begin()
    stream = b"\xef\xbb\xbf: hello\n\n" + b": ping\n\n".join(x.events())
    for byte in stream.replace(b"\n", b"\r\n"):
        await x.chunk(bytes([byte]))
    await x.end()


async def stall(x):
    if x.attempt > 1:
        await x.answer()
        return
    await x.begin()
    await x.chunk(x.events()[0])
    await asyncio.sleep(60)


async def stall_forever(x):
    await x.begin()
    await x.chunk(x.events()[0])
    await asyncio.sleep(60)


async def signs_of_life(x):
    """Comments for ever, and no answer."""
    await x.begin()
    while not x.writer.is_closing():
        await x.chunk(b": ping\n\n")
        await asyncio.sleep(0.02)


async def malformed(x):
    if x.attempt > 1:
        await x.answer()
        return
    await malformed_forever(x)


async def malformed_forever(x):
    await x.begin()
    await x.chunk(x.events()[0])
    await x.chunk(b"data: {\"choices\": [{\"delta\": {\"content\": \"x\n\n")
    await x.chunk(x.events()[-1])
    await x.end()


async def not_events(x):
    await x.begin("application/json")
    await x.chunk(b'{"choices": [{"message": {"content": "not streamed"}}]}')
    await x.end()


async def empty(x):
    await x.answer(text="")


async def huge(x):
    await x.begin()
    for event in x.api.head():
        await x.chunk(event)
    piece = x.api.text("0123456789abcdef" * 4096)
    while not x.writer.is_closing():
        await x.chunk(piece)


async def huge_event(x):
    """An event that never ends."""
    await x.begin()
    await x.chunk(b"data: ")
    while not x.writer.is_closing():
        await x.chunk(b"x" * 65536)


async def stream_error(x):
    if x.attempt > 1:
        await x.answer()
        return
    await x.begin()
    for event in x.events()[:3]:
        await x.chunk(event)
    await x.chunk(sse(x.api.wrap(x.api.error("stream")[1]), "error"))
    await x.end()


async def blocked(x):
    """The prompt itself is refused."""
    if x.api is Gemini:
        await x.begin()
        await x.chunk(sse({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
                           "usageMetadata": {"promptTokenCount": 1000}}))
        await x.end()
    else:
        await x.error("blocked")


async def odd_header(x):
    await x.begin(x_request_id="a\x1b[31mb\xe9")
    await x.chunk(b"data: [DONE]\n\n" if x.api is OpenAI else x.api.tail("stop")[-1])
    await x.end()


async def echo_key(x):
    """A server that answers with the key it was sent, in an error."""
    await x.begin("application/json", 403)
    await x.chunk(json.dumps(x.api.wrap({"message": f"key {KEY} may not do this ({KEY})"})).encode())
    await x.end()


async def echo_key_text(x):
    await x.begin(x_request_id=KEY)
    for event in x.api.head() + [x.api.text(KEY[:9]), x.api.text(KEY[9:] + " and " + KEY)] + x.api.tail("stop"):
        await x.chunk(event.replace(b"req-1", KEY.encode()).replace(b"served-model", KEY.encode()))
    await x.end()


async def echo(x):
    """The request's body is the answer."""
    await x.answer(text=json.dumps(x.body))


async def redirect(x):
    await x.begin("text/plain", 307, location="/ok/redirected" + "/v1")
    await x.end()


async def full_context(x):
    """Anthropic's word for a context that filled up on the way; the others have none and say length."""
    await x.begin()
    for event in x.events(finish="length"):
        await x.chunk(event.replace(b'"max_tokens"', b'"model_context_window_exceeded"'))
    await x.end()


def with_error(kind):
    async def scenario(x):
        await x.error(kind)
    return scenario


SCENARIOS = {
    "ok": Exchange.answer,
    "length": lambda x: x.answer(finish="length"),
    "refusal": lambda x: x.answer(text="I cannot.", finish="refusal"),
    "auth": with_error("auth"), "quota": with_error("quota"), "overflow": with_error("overflow"),
    "bad": with_error("bad"),
}
for function in (crowd, rate_limit, rate_limit_date, rate_limit_ms, rate_limit_long, rate_limit_forever, server_error, server_error_forever,
                 bad_gateway, cut, cut_inside, cut_forever, cut_after_end, hold_after_end, drop, drip, bytewise, stall,
                 stall_forever, signs_of_life, malformed, malformed_forever, not_events, empty, huge, huge_event,
                 stream_error, blocked, odd_header, echo_key, echo_key_text, echo, redirect, full_context):
    SCENARIOS[function.__name__] = function


# --- the server -----------------------------------------------------------------------------------------------------

async def read_request(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = dict((name.lower(), value.strip())
                   for name, value in (line.split(":", 1) for line in lines[1:] if ":" in line))
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return lines[0].split(" ")[1], headers, body


def key_of(api, headers):
    if api is Anthropic:
        return headers.get("x-api-key") if headers.get("anthropic-version") == "2023-06-01" else None
    if api is Gemini:
        return headers.get("x-goog-api-key")
    return headers.get("authorization", "").removeprefix("Bearer ")


async def handle_request(reader, writer):
    path, headers, body = await read_request(reader)
    parts = path.split("/", 3)  # "", scenario, id, rest
    api = api_of(path)
    scenario = SCENARIOS.get(parts[1]) if len(parts) == 4 else None
    attempts["/".join(parts[1:3])] += 1
    exchange = Exchange(writer, api or OpenAI, headers, json.loads(body), "/".join(parts[1:3]))
    if not api or not scenario:
        await exchange.begin("text/plain", 404)
        await exchange.chunk(f"nothing at {path}".encode())
        await exchange.end()
    elif key_of(api, headers) != KEY:
        await exchange.error("auth")
    else:
        await scenario(exchange)
    return exchange.keep


async def on_connection(reader, writer):
    try:
        while await handle_request(reader, writer):
            pass
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=options.delay, help="between the events of drip")
    parser.add_argument("--pieces", type=int, default=options.pieces, help="events that an answer's text comes in")
    parser.parse_args(namespace=options)
    server = await asyncio.start_server(on_connection, "127.0.0.1", 0, limit=1 << 26, backlog=1024)
    print("port", server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit(0)
