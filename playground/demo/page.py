"""The page at the server's root: what this is, the models, and the words that bring each behaviour about.

It is one file without scripts or anything fetched; every text in it is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import groupby

from playground.demo.cheats import CHEATS
from playground.demo.models import MODELS

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}

_STYLE = """
:root { color-scheme: light dark; --bg: #f4f5f8; --card: #fff; --line: #e2e5eb; --text: #1a1e24; --muted: #5c6675;
  --accent: #2f5bea; --code: #eef0f4; }
@media (prefers-color-scheme: dark) { :root { --bg: #13161b; --card: #1a1e25; --line: #2e3541; --text: #e7eaf0;
  --muted: #9aa5b4; --accent: #7e9dff; --code: #2a303b; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--text); font: 15px/1.55 system-ui, sans-serif; }
main { max-width: 820px; margin: 0 auto; padding: 40px 20px 64px; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 17px; margin: 32px 0 8px; }
h3 { font-size: 13px; margin: 20px 0 6px; color: var(--muted); }
p { margin: 0 0 8px; } .muted { color: var(--muted); }
code { background: var(--code); border-radius: 5px; padding: 1px 6px; font: 13px ui-monospace, monospace;
  white-space: nowrap; }
table { width: 100%; border-collapse: collapse; background: var(--card); border: 1px solid var(--line);
  border-radius: 9px; overflow: hidden; border-spacing: 0; }
th, td { text-align: left; vertical-align: top; padding: 8px 12px; border-top: 1px solid var(--line); }
tr:first-child th, tr:first-child td { border-top: 0; } th { width: 34%; font-weight: 500; }
th code + code { margin-left: 4px; } .address { color: var(--accent); font-size: 15px; }
"""


def render(base_url: str) -> str:
    """The page as HTML; ``base_url`` is the address to enter into a client."""
    models = _table((f"<code>{escape(model.id)}</code>", escape(model.summary)) for model in MODELS)
    groups = []
    for group, cheats in groupby(CHEATS, key=lambda cheat: cheat.group):
        rows = (
            (" ".join(f"<code>{escape(word)}</code>" for word in cheat.typed.split()), escape(cheat.happens))
            for cheat in cheats
        )
        groups.append(f"<h3>{escape(group)}</h3>{_table(rows)}")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Demo gateway</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head><body><main><h1>Demo gateway</h1>"
        "<p>A model gateway to try a client on. Its answers are <strong>simulated</strong>: no model runs here, and "
        "nothing leaves this machine.</p>"
        f'<p>Base address: <code class="address">{escape(base_url)}</code></p>'
        '<p class="muted">Endpoints below it: <code>GET /models</code> <code>GET /models/{id}</code> '
        "<code>POST /chat/completions</code> <code>POST /messages</code> <code>POST /messages/count_tokens</code> "
        "<code>POST /responses</code> <code>GET /responses/{id}</code> <code>DELETE /responses/{id}</code> "
        "<code>GET /responses/{id}/input_items</code> <code>POST /responses/input_tokens</code> "
        "<code>POST /responses/compact</code>. "
        "Any key is accepted unless one was set at the start.</p>"
        f"<h2>Models</h2>{models}"
        '<h2>Words that change an answer</h2><p class="muted">Put any of them into your last message; they are taken '
        f"out before it is answered.</p>{''.join(groups)}</main></body></html>"
    )


def proxy_error() -> str:
    """The kind of page a proxy sends when it cannot reach the service behind it."""
    return (
        "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>"
        "\r\n<hr><center>demo-proxy (simulated)</center>\r\n</body>\r\n</html>\r\n"
    )


def _table(rows: Iterable[tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th>{title}</th><td>{text}</td></tr>" for title, text in rows)
    return f"<table>{cells}</table>"
