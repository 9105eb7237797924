"""Any server of the OpenAI protocol (llama.cpp, vLLM, LM Studio, LiteLLM, Azure, hosted models)."""

from __future__ import annotations

import json
from pathlib import PurePath, PureWindowsPath
from typing import Any

from lib.errors import UserError
from lib.judging.clients.base import Completion, Decoding, Target
from lib.judging.clients.failures import TransportError
from lib.judging.clients.model import (
    DESCRIBE_TIMEOUT,
    ModelClient,
    counted,
    first,
    given,
    plain,
    seconds,
    table,
    token_logprobs,
    without_text,
    word,
)
from lib.judging.clients.pace import Pace
from lib.judging.clients.transport import Server

KEY = "OPENAI_API_KEY"
CHAT = "/chat/completions"
THOUGHTS = ("reasoning_content", "reasoning", "thinking")  # fields beside the content that hold a model's thought


class OpenAIClient(ModelClient):
    """One model of one server. The key is read from ``OPENAI_API_KEY``.

    The address is that of the API (``http://host:port/v1``), of an Azure deployment (with ``?api-version=``), or of
    the page for chat completions itself; one without a path is the server's, whose API is at ``/v1``.
    """

    backend = "openai"

    def __init__(self, target: Target, pace: Pace | None = None) -> None:
        super().__init__(target, pace)
        if target.base_url is None:
            raise UserError("--backend openai needs --base-url, for example http://127.0.0.1:8080/v1.")
        address, mark, query = target.base_url.partition("?")
        address = address.rstrip("/").removesuffix(CHAT)
        if address.count("/") == 2:
            address += "/v1"
        self.server = Server(address + mark + query, "--base-url", KEY, target.headers)

    def request(self, prompt: str, schema: dict[str, Any], decoding: Decoding) -> dict[str, Any]:
        form: dict[str, Any] = {"type": decoding.response_format}
        if decoding.response_format == "json_schema":
            form["json_schema"] = {"name": "verdict", "strict": True, "schema": schema}
        thinks = None if decoding.think is None else {"enable_thinking": decoding.think}
        return given(
            model=self.model,
            messages=[{"role": "user", "content": prompt}],
            temperature=decoding.temperature,
            seed=decoding.seed,
            reasoning_effort=decoding.reasoning_effort,
            response_format=None if decoding.response_format == "none" else form,
            chat_template_kwargs=thinks,  # as vLLM, SGLang and llama.cpp take it
            logprobs=True if decoding.logprobs else None,
            top_logprobs=decoding.logprobs or None,
        ) | ({} if decoding.token_cap == "none" else {decoding.token_cap: decoding.max_tokens})

    def ask(self, body: dict[str, Any], timeout: float) -> dict[str, Any]:
        return self.server.post(CHAT, json.dumps(body).encode(), timeout, self.model)

    def read(self, answer: dict[str, Any], decoding: Decoding) -> Completion:
        if "choices" not in answer:
            raise TransportError(f"{self.endpoint}: not the answer asked for: {json.dumps(answer)[:100]}")
        choice, usage, timings = first(answer["choices"]), table(answer.get("usage")), table(answer.get("timings"))
        text, status, reason = _said(choice)
        return Completion(
            text=text,
            finish_reason=word(choice.get("finish_reason")),
            prompt_tokens=counted(usage.get("prompt_tokens")) or None,
            completion_tokens=counted(usage.get("completion_tokens")),
            seconds=0.0,
            server_s=seconds(timings.get("prompt_ms"), timings.get("predicted_ms"), unit=1e-3),  # llama.cpp
            logprobs=token_logprobs(table(choice.get("logprobs")).get("content")) if decoding.logprobs else None,
            status=status,
            reason=reason,
        )

    def tell(self) -> dict[str, Any]:
        served = self._served()
        owner, meta = word(served.get("owned_by")), served.get("meta")
        said = {
            "backend": self.backend,
            "model": self.model,
            "served_by": owner,
            "served_model": _basename(word(served.get("id"))),
            "digest": None,  # no server of this protocol tells it
            "version": self._version(owner),
        }
        if isinstance(meta, dict):
            said["weights"] = {field: plain(meta[field]) for field in ("ftype", "n_params", "size") if field in meta}
        return said

    def _version(self, owner: str | None) -> Any:
        """The server's build, on the page where each kind of server tells it."""
        page, field = {"llamacpp": ("props", "build_info"), "vllm": ("version", "version")}.get(owner or "", ("", ""))
        root = self.endpoint.removesuffix("/v1")
        return plain(self.server.get(f"{root}/{page}", DESCRIBE_TIMEOUT).get(field)) if page else None

    def _served(self) -> dict[str, Any]:
        """The server's entry for the model; a server of a single model serves that one under any name."""
        listed = self.server.get(self.server.url("/models"), DESCRIBE_TIMEOUT).get("data")
        entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
        named = [entry for entry in entries if entry.get("id") == self.model]
        return first(named or (entries if len(entries) == 1 else []))


def _said(choice: dict[str, Any]) -> tuple[str, Any, str | None]:
    """Text of a choice, the status that its envelope tells (None: as the text says), and what is odd about it."""
    message = table(choice.get("message"))
    text, thought = _parts(message.get("content", choice.get("text")))
    if choice.get("finish_reason") == "content_filter":
        return text, "refused", "the server's content filter stopped the reply"
    if text.strip():
        return text, None, None
    if refusal := word(message.get("refusal")):
        return refusal, "refused", "the model refused to answer"
    if call := _call(message):
        return call, None, "the reply came in a tool call"
    thought = thought or next((message[name] for name in THOUGHTS if isinstance(message.get(name), str)), "")
    return without_text(thought, cut=choice.get("finish_reason") == "length")


def _parts(content: Any) -> tuple[str, str]:
    """The text of a message's content, and the thought in it: a text, a list of parts, or the reply as an object."""
    if isinstance(content, str):
        return content, ""
    if isinstance(content, dict):
        return json.dumps(content), ""
    parts = (
        [part if isinstance(part, dict) else {"text": part} for part in content] if isinstance(content, list) else []
    )
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    thoughts = [json.dumps(part["thinking"]) for part in parts if "thinking" in part]
    return "".join(texts), "".join(thoughts)


def _call(message: dict[str, Any]) -> str | None:
    """The arguments of the one tool that a model called instead of answering, as some gateways ask for JSON."""
    calls = message.get("tool_calls")
    calls = calls if isinstance(calls, list) else [{"function": message.get("function_call")}]
    arguments = table(first(calls).get("function")).get("arguments") if len(calls) == 1 else None
    return json.dumps(arguments) if isinstance(arguments, dict) else arguments if isinstance(arguments, str) else None


def _basename(name: str | None) -> str | None:
    """The last part of a local path; a name such as ``org/model`` is no path of a machine and stays."""
    is_path = name is not None and (PurePath(name).is_absolute() or PureWindowsPath(name).is_absolute())
    return PureWindowsPath(name).name if name and is_path else name
