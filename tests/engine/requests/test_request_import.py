"""Pasted curl commands and bodies: the request, the notes, and no secret in any text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.domain.parts import Text
from playground.domain.transcript import Role
from playground.engine.gateways.profiles import Profile
from playground.engine.requests.pasted import Imported, ImportRefusedError, read
from playground.engine.requests.snippets import prepare_snippet_request, write
from playground.gateway.connection import Auth
from playground.protocols.protocol import get_protocol
from tests.engine.requests.snippets.cases import CHAT, MESSAGES
from tests.support.each_case import each_case

KEY = "gw-canary-4f9c1d7e0a"
CHAT_BODY = {"model": "m", "messages": [{"role": "user", "content": "It's 5 $"}], "temperature": 0.5}
NATIVE_BODY = {"model": "m", "max_tokens": 5, "system": "s", "messages": [{"role": "user", "content": "Hi"}]}


BODY_TEXT = '{"model": "m", "messages": [{"role": "user", "content": "it\u00a0is “so”"}]}'
CURLY = "{“model”: “m”, “messages”: [{“role”: “user”, “content”: “hi”}]}"
PLAIN = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]})
URL = "https://x.example/v1/chat/completions"
SNIPPETS = {"chat": CHAT, "messages": MESSAGES}
UNREADABLE = ("odd", "half")  # messages that are no list, halves of characters


def quoted(value: Any) -> str:
    return "'" + json.dumps(value).replace("'", "'\\''") + "'"


def secret(imported: Imported) -> str | None:
    return imported.key.get_secret_value() if imported.key else None


def body(imported: Imported) -> Any:
    return get_protocol(imported.request.protocol).encode(imported.request)


def test_command_of_a_documentation_is_read_with_its_headers() -> None:
    imported = read(
        f"""$ curl https://gateway.example/v1/chat/completions \\
          -H "Content-Type: application/json" \\
          -H "Authorization: Bearer {KEY}" \\
          -H "X-Title: mine" \\
          -d {quoted(CHAT_BODY)}
        """
    )
    assert (imported.base_url, imported.request.protocol) == ("https://gateway.example/v1", "chat")
    assert (secret(imported), imported.auth, imported.notes) == (KEY, Auth.BEARER, ())
    assert imported.request.extra_headers == {"X-Title": "mine"}
    assert body(imported) == CHAT_BODY
    imported = read(
        f"curl --url https://gateway.example/v1/messages --header 'x-api-key: {KEY}' "
        f"-H 'anthropic-version: 2023-06-01' -H 'anthropic-beta: b1' --json {quoted(NATIVE_BODY)}"
    )
    assert (secret(imported), imported.auth, imported.request.protocol) == (KEY, Auth.X_API_KEY, "messages")
    assert imported.request.turns[0].role is Role.SYSTEM
    assert imported.request.extra_headers == {"anthropic-beta": "b1"}
    assert body(imported) == NATIVE_BODY
    twice = read(f"curl {URL} -H 'anthropic-beta: a' -H 'X-A: 1' -H 'Anthropic-Beta: b' -H 'x-a: 1' -d '{PLAIN}'")
    assert twice.request.extra_headers == {"anthropic-beta": "a, b", "X-A": "1, 1"}


@each_case(
    ("command", "protocol"),
    [
        (f"curl x.example/v1/messages -d {quoted(CHAT_BODY)}", "messages"),  # the address decides
        (f"curl x.example/proxy -d {quoted(NATIVE_BODY)}", "messages"),  # then the body
        (f"curl x.example/proxy -d {quoted(CHAT_BODY)} -H 'anthropic-version: 2023-06-01'", "messages"),  # then headers
        (f"curl x.example/proxy -d {quoted(CHAT_BODY)}", "chat"),
    ],
)
def test_protocol_follows_address_body_and_headers(command: str, protocol: str) -> None:
    assert read(command).request.protocol == protocol


@each_case(
    ("more", "protocol"),
    [
        ({"stop": "x"}, "chat"),
        ({"system": "x"}, "messages"),
        ({"tools": [{"name": "f", "input_schema": {}}]}, "messages"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "chat"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}]}, "messages"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}]}, "chat"),
        ({"messages": [{"role": "system", "content": "x"}], "max_tokens": 5}, "chat"),
        ({"tool_choice": {"type": "any"}}, "messages"),
    ],
)
def test_protocol_of_a_bare_body_follows_its_members(more: dict[str, Any], protocol: str) -> None:
    imported = read(json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}], **more}))
    assert imported.request.protocol == protocol
    assert not any(note.startswith("Read as") for note in imported.notes)


def test_bare_body_is_read_with_the_extra_body_and_a_note_on_the_guess() -> None:
    original = {**CHAT_BODY, "stop": None, "top_k": 4, "stream_options": {"include_usage": True, "x": 1}, "seed": "odd"}
    imported = read(json.dumps(original))
    assert imported.request.extra_body == {"stop": None, "top_k": 4, "stream_options": {"include_usage": True, "x": 1}}
    assert body(imported) == original
    assert "Kept in the extra body: stop, top_k, stream_options." in imported.notes
    imported = read(PLAIN)
    assert imported.notes == ("Read as Chat completions: nothing in it belongs to one protocol alone.",)
    assert imported.request.turns[0].parts == (Text(text="hi"),)
    assert read(json.dumps({"playground": 1, **json.loads(PLAIN)})).request.model == "m"
    with pytest.raises(ImportRefusedError, match="version"):
        read('{"playground": 2}')
    mention = "a; curl x && curl y"
    assert read(PLAIN.replace("hi", mention)).request.turns[0].text == mention


def test_file_in_a_command_is_refused_with_the_reason() -> None:
    for option in ("-d", "--data", "--data-binary", "--json"):
        with pytest.raises(ImportRefusedError, match=r"from the file “body.json”.*not read.*Paste the JSON"):
            read(f"curl https://x/v1/messages {option} @body.json")
    with pytest.raises(ImportRefusedError, match="standard input"):
        read("curl https://x/v1/messages -d @-")
    with pytest.raises(ImportRefusedError, match="reads headers from a file"):
        read("curl https://x/v1/messages -H @headers -d '{}'")
    with pytest.raises(ImportRefusedError, match="not JSON"):
        read("curl https://x/v1/messages --data-raw @body.json")


@each_case(
    ("text", "words"),
    [
        ("", "nothing to import"),
        ("hello", "neither a curl command nor JSON"),
        ("Invoke-RestMethod https://x", "This is PowerShell. In a browser"),
        ("curl https://x/v1/models", "sends no body"),
        ("curl https://x -F a=b", "-F cannot be imported: it sends a form"),
        ("curl https://x -G -d a=b", "-G cannot be imported"),
        ("curl https://x -H", "needs a value"),
        ("curl https://x -d 'a", "never closed"),
        ("{", "not JSON"),
        ('{"a": NaN}', "not JSON"),
        ("[1]", "message 1"),
        ("{}", "no “messages”"),
        ('{"contents": "x"}', "“contents”, which belongs to an unsupported protocol"),
        ('{"messages": [{"role": "robot", "content": ""}]}', "Message 1: “role” is 'robot'"),
        ("[" * 100_000, "not JSON: nested too deeply"),
        (f"curl -Uri {URL} -Method POST -Body '{PLAIN}'", "PowerShell's Invoke-WebRequest"),
        ("$body = @{a=1}\nInvoke-RestMethod -Uri x -Body $body", "This is PowerShell"),
        (f"http POST {URL} model=m", "HTTPie command. Run it with --offline"),
        (f"wget --post-data '{PLAIN}' {URL}", "This is a wget command"),
        (f"import requests\nrequests.post('{URL}')", "This is Python"),
        ("client.chat.completions.create(model='m')", "This is Python"),
        ("await fetch(url, {method: 'POST'})", "This is JavaScript"),
        (f"cat body.json | curl {URL} -d @-", "standard input"),
        (f"curl {URL} -d @- < body.json", "standard input"),
        (f"curl {URL} -K conf", "-K cannot be imported"),
        ('{"log": {"entries": []}}', "none of them sends “messages”"),
    ],
)
def test_text_that_cannot_be_read_is_refused_with_a_remedy(text: str, words: str) -> None:
    with pytest.raises(ImportRefusedError) as refused:
        read(text)
    assert words.lower() in str(refused.value).lower()


def test_options_are_read_or_listed() -> None:
    imported = read(
        f"FOO=1 curl -sSL -k --compressed -XPUT -m5 --proxy http://p --frob -o out.json "
        f"'https://x/v1/messages?key={KEY}' other.example -b 'a={KEY}' --data-raw {quoted(NATIVE_BODY)} | jq . > {KEY}"
    )
    assert imported.base_url == "https://x/v1"
    notes = "\n".join(imported.notes)
    for words in (
        "method is PUT",
        "from “?” on was left out",
        "-k; certificates",
        "-m; time-outs",
        "--proxy; the proxy",
        "-b; cookies",
        "curl alone: -s, -S, -L, --compressed, -o",
        "because unknown: --frob",
        "addresses after the first",
        "What follows the curl command",
    ):
        assert words in notes
    assert KEY not in notes


def test_secrets_are_separated_and_in_no_text() -> None:
    imported = read(
        f"curl https://me:{KEY}@x.example/v1/chat/completions -H 'api-key: {KEY}2' -H 'Cookie: {KEY}' "
        f"-H 'X-Note: plain' -H 'User-Agent: mine' -H 'sec-fetch-mode: cors' "
        f"-d {quoted({**CHAT_BODY, 'api_key': 'sk-' + KEY})}"
    )
    assert imported.base_url == "https://x.example/v1"
    assert {name: value.get_secret_value()[:6] for name, value in imported.secret_headers.items()} == {
        "Authorization": "Basic ",
        "api-key": KEY[:6],
    }
    assert imported.request.extra_headers == {"X-Note": "plain", "User-Agent": "mine"}
    assert imported.request.extra_body == {}
    assert "“api_key” in the body looks like a key and was left out" in "\n".join(imported.notes)
    assert KEY not in repr(imported)
    assert "Cookie, sec-fetch-mode" in "\n".join(imported.notes)


def test_refusal_contains_no_secret() -> None:
    for text in (
        f"curl https://x/v1/messages -H 'Authorization: Bearer {KEY}' -d '{{\"a\": {KEY}'",
        f"curl -u me:{KEY} https://x -d '{KEY}'",
        f"curl 'x-api-key: {KEY} ",
    ):
        with pytest.raises(ImportRefusedError) as refused:
            read(text)
        assert KEY not in str(refused.value)
        assert refused.value.__cause__ is None


@each_case("value", ["$OPENAI_API_KEY", "${KEY}", "YOUR_API_KEY", "<your key>", "sk-xxxx", "sk-...", "••••"])
def test_placeholder_is_no_key(value: str) -> None:
    imported = read(f'curl https://x/v1/chat/completions -H "Authorization: Bearer {value}" -d {quoted(CHAT_BODY)}')
    assert imported.key is None
    assert imported.auth is Auth.BEARER
    assert "Enter it yourself" in imported.notes[0]


def test_key_in_two_headers_is_one_key() -> None:
    url = "curl https://x/v1/messages -d " + quoted(NATIVE_BODY)
    both = read(f"{url} -H 'x-api-key: {KEY}' -H 'Authorization: Bearer {KEY}'")
    assert (secret(both), both.auth, both.secret_headers) == (KEY, Auth.BOTH, {})
    differing = read(f"{url} -H 'x-api-key: {KEY}' -H 'Authorization: Bearer {KEY}2'")
    assert (secret(differing), differing.auth) == (KEY, Auth.X_API_KEY)
    assert differing.secret_headers["Authorization"].get_secret_value() == f"Bearer {KEY}2"


def test_variables_in_address_and_model_are_noted() -> None:
    imported = read('curl "$BASE/chat/completions" -d "{\\"model\\":\\"$MODEL\\",\\"messages\\":[]}"')
    assert imported.base_url == ""
    assert imported.request.model == ""
    assert imported.notes[0].startswith("The address is in $BASE, which only the shell knows.")
    assert "The model is $MODEL, which only the shell knows. Choose one." in imported.notes


@each_case(
    ("protocol", "name"),
    # not those whose messages are no list, or hold halves of characters
    [
        (p, name)
        for p, cases in (("chat", CHAT), ("messages", MESSAGES))
        for name in cases
        if name not in ("odd", "half")
    ],
)
def test_curl_snippet_is_imported_as_the_same_request(protocol: str, name: str) -> None:
    profile = Profile(base_url="https://gateway.example/v1", key_origin="there")
    sent = prepare_snippet_request(profile, SNIPPETS[protocol][name])
    imported = read(write("curl", sent).text)
    assert (imported.base_url, imported.request.protocol) == ("https://gateway.example/v1", protocol)
    again = prepare_snippet_request(profile, imported.request)
    assert json.dumps(again.body, sort_keys=True) == json.dumps(sent.body, sort_keys=True)


@each_case(
    ("text", "words"),
    [
        (f"cd /tmp && curl {URL} -d '{BODY_TEXT}'", "before the curl command was left out"),
        (f"export K=1; curl {URL} -d '{BODY_TEXT}'", "before the curl command was left out"),
        (f"curl\u00a0{URL} -d '{BODY_TEXT}'", "No-break spaces were read as spaces"),
        (f"curl {URL} -d ‘{CURLY}’", "Curly quotation marks (‘) were read as the straight ones"),
        (f"curl {URL} –d '{BODY_TEXT}'", "The long dash before “d” was read as a hyphen"),
        (f"curl {URL} —data '{BODY_TEXT}'", "The long dash before “data” was read"),
    ],
)
def test_signs_of_a_word_processor_are_repaired_with_a_note(text: str, words: str) -> None:
    imported = read(text)
    assert imported.base_url == "https://x.example/v1"
    assert imported.request.model == "m"
    assert any(words in note for note in imported.notes), imported.notes


def test_signs_inside_straight_quotes_are_text() -> None:
    imported = read(f"curl {URL} -d '{BODY_TEXT}'")
    assert imported.request.turns[0].text == "it\u00a0is “so”"
    assert not any("urly" in note or "No-break" in note or "before" in note for note in imported.notes)
    with pytest.raises(ImportRefusedError, match=r"curly quotation marks \(‘\).* never closed"):
        read(f"curl https://x -d ‘{CURLY.replace('hi', 'don’t')}’")
    text = PLAIN.replace("hi", r"\303\251 \xe2\x82\xac \u00e9 \ud83d\ude00 it\'s \041")
    assert read(f"curl {URL} -d $'{text}'").request.turns[0].text == "é € é 😀 it's !"


DOUBLED = PLAIN.replace('"', '""')
ESCAPED = PLAIN.replace('"', '\\"')


@each_case(
    "command",
    [
        f"user@host:~/p$ curl {URL} -d '{PLAIN}'",
        f"[user@host dir]$ curl {URL} -d '{PLAIN}'",
        f"(venv) root@4f1:/app# curl {URL} -d '{PLAIN}'",
        f"➜  proj git:(main) ✗ curl {URL} -d '{PLAIN}'",
        f"PS C:\\Users\\me> curl.exe {URL} -d '{PLAIN}'",
        f'C:\\Users\\me>curl {URL} -d "{ESCAPED}"',
        f"$ curl {URL} \\\n> -H 'a: b' \\\n> -d '{PLAIN}'",
        f"time sudo env A=b /usr/bin/curl {URL} -d '{PLAIN}'",
        f"docker exec -it box curl {URL} -d '{PLAIN}'",
        f"docker run --rm curlimages/curl:8.10.1 {URL} -d '{PLAIN}'",
        f"kubectl exec pod -n ns -- curl {URL} -d '{PLAIN}'",
        f"kubectl run curl --image=curlimages/curl -it --restart=Never -- {URL} -d '{PLAIN}'",
        f"docker exec box sh -c \"curl {URL} -d '{ESCAPED}'\"",
        f"echo '{PLAIN}' | curl {URL} -d @-",
        f"printf '%s' '{PLAIN}' | curl {URL} --json @-",
        f"cat <<EOF | curl {URL} -d @-\n{PLAIN}\nEOF",
        f"curl {URL} --data-binary @- <<'EOF'\n{PLAIN}\nEOF\n",
        f"@'\n{PLAIN}\n'@ | curl.exe {URL} -d '@-'",
        f"curl.exe {URL} -d @'\n{PLAIN}\n'@",
        f'curl {URL} -d "{DOUBLED}"',
        f"curl {URL} `\n -d '{PLAIN}'",
        f'curl {URL} ^\n -d "{ESCAPED}"',
        f"curl {URL} \\  \n -d '{PLAIN}'",
        f"RESPONSE=$(curl -s {URL} -d '{PLAIN}')",
        f"It's slow:\n```bash\n$ curl {URL} -d '{PLAIN}'\n```\nThat's all.",
        f"I ran `curl {URL} -d '{PLAIN}'` and it's slow",
        f"curl {URL} --data-raw='{PLAIN}' 2>/dev/null | jq '.x",
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: x.example\r\n\r\n{PLAIN}",
        f"### Ask\nPOST {URL}\nContent-Type: application/json\n\n{PLAIN}",
        f"fetch({json.dumps(URL)}, {json.dumps({'headers': {'accept': '*/*'}, 'body': PLAIN, 'method': 'POST'})});",
    ],
)
def test_command_copied_from_a_terminal_or_page_is_read(command: str) -> None:
    imported = read(command)
    assert imported.base_url == "https://x.example/v1"
    assert body(imported) == json.loads(PLAIN)


@each_case(
    ("value", "name"),
    [
        ("$KEY", "$KEY"),
        ("${KEY:?missing}", "$KEY"),
        ("$(pass show gateway)", "$(pass …)"),
        ("`pass show gateway`", "$(pass …)"),
        ("$KEY-suffix", "$KEY"),
        ("%KEY%", "%KEY%"),
        ("$env:KEY", "$env:KEY"),
    ],
)
def test_shell_expansion_is_no_key(value: str, name: str) -> None:
    shell = "curl.exe" if value.startswith("$env") else "curl"
    imported = read(f'{shell} {URL} -H "Authorization: Bearer {value}" -H "X-Tag: {value}x" -d \'{PLAIN}\'')
    assert (imported.key, imported.secret_headers) == (None, {})
    assert f"The key is {name}, which only the shell knows. Enter it yourself." in imported.notes
    if not name.startswith("%"):  # which only cmd replaces
        assert imported.request.extra_headers == {}


def test_shell_expansion_in_a_body_is_a_variable() -> None:
    imported = read(f'curl {URL} -d "{ESCAPED.replace("hi", "$PROMPT and $(cat notes.txt)")}"')
    assert imported.request.turns[0].text == "{{PROMPT}} and {{cat}}"
    assert [note.split(" in the body")[0] for note in imported.notes[-2:]] == ["$PROMPT", "$(cat …)"]
    quoted = read(f"curl {URL} -d '{PLAIN.replace('hi', '$5 and $HOME')}'")
    assert quoted.request.turns[0].text == "$5 and $HOME"
    for data, words in (
        ('"$BODY"', "The body is $BODY, which only the shell knows"),
        ("$(cat body.json)", "The body is $(cat …)"),
        ('"{\\"model\\": $MODEL}"', "$MODEL in it is known to the shell alone"),
        ("@$FILE", "from the file “$FILE”"),
    ):
        with pytest.raises(ImportRefusedError) as refused:
            read(f"curl {URL} -d {data}")
        assert words in str(refused.value)


def test_last_request_with_messages_of_an_archive_is_read() -> None:
    def entry(content: str) -> dict[str, Any]:
        headers = [{"name": ":authority", "value": "x"}, {"name": "authorization", "value": f"Bearer {KEY}"}]
        data = {"mimeType": "application/json", "text": json.dumps({**CHAT_BODY, "user": content})}
        return {"request": {"method": "POST", "url": URL, "headers": headers, "postData": data}}

    odd = [{}, {"request": {"method": "GET", "url": "https://x.example/"}}, entry("a"), entry("b")]
    imported = read(json.dumps({"log": {"version": "1.2", "entries": odd}}))
    assert (imported.base_url, secret(imported), body(imported)["user"]) == ("https://x.example/v1", KEY, "b")
    assert "The archive has 2 requests with messages; the last one was read." in imported.notes


@settings(max_examples=50)
@given(st.text("curl '\"\\$`^\n|<>EOF({#-%@d $(x)"))
def test_no_command_breaks_the_reader(text: str) -> None:
    for command in (f"curl {URL} {text}", f"curl {URL} -d '{PLAIN}' -H {text}", f"C:\\>curl {text}"):
        try:
            imported = read(command)
        except ImportRefusedError as error:
            str(error).encode()
        else:
            json.dumps([imported.base_url, imported.request.extra_headers, imported.notes], ensure_ascii=False).encode()
