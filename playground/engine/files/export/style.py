"""How the page looks: calm, readable, light or dark as the reader's system is. No address stands in it."""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root { color-scheme: light dark;
  --ground: #f4f5f8; --card: #fff; --line: #e2e5eb; --code: #f6f7f9; --text: #1a1e24; --muted: #5c6675;
  --link: #2f5bea; --thought: #f6f3fe; --error: #c5282b; --system: #7a4fe0; --developer: #7a4fe0; --user: #0b7285;
  --assistant: #2f5bea; --tool: #a85500; --keyword: #7a4fe0; --string: #157a45; --number: #a85500; --name: #2f5bea; }
@media (prefers-color-scheme: dark) { :root {
  --ground: #13161b; --card: #1a1e25; --line: #2e3541; --code: #171b21; --text: #e7eaf0; --muted: #9aa5b4;
  --link: #7e9dff; --thought: #221f30; --error: #ff8a84; --system: #b9a4ff; --developer: #b9a4ff; --user: #5cc9da;
  --assistant: #8faeff; --tool: #f2b460; --keyword: #b9a4ff; --string: #6dd49c; --number: #f2b460; --name: #8faeff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.55 system-ui, sans-serif; }
main { max-width: 860px; margin: 0 auto; padding: 24px 16px 48px; }
h1 { font-size: 24px; line-height: 1.3; margin: 0 0 4px; overflow-wrap: anywhere; }
.facts, .place, .id { color: var(--muted); font-size: 13px; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px;
  margin: 12px 0; }
section > h2 { font-size: 13px; margin: 0 0 8px; }
h2 .place, h2 .id { font-weight: normal; margin-left: 8px; }
.system > h2 b { color: var(--system); } .developer > h2 b { color: var(--developer); }
.user > h2 b { color: var(--user); } .assistant > h2 b { color: var(--assistant); }
.tool > h2 b { color: var(--tool); }
.said { overflow-wrap: anywhere; unicode-bidi: isolate; }
.said > :first-child { margin-top: 0; } .said > :last-child { margin-bottom: 0; }
.said h1, .said h2, .said h3, .said h4, .said h5, .said h6 { font-size: 16px; margin: 16px 0 8px; }
.said blockquote { margin: 8px 0; padding-left: 12px; border-left: 3px solid var(--line); color: var(--muted); }
.said table { border-collapse: collapse; display: block; overflow-x: auto; }
.said th, .said td { border: 1px solid var(--line); padding: 4px 8px; text-align: left; }
.said .right { text-align: right; } .said .center { text-align: center; }
a { color: var(--link); }
pre, code { font: 13px/1.5 ui-monospace, monospace; background: var(--code); border-radius: 6px; }
code { padding: 1px 4px; }
pre { padding: 8px 12px; margin: 8px 0; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere;
  border: 1px solid var(--line); unicode-bidi: isolate; }
pre code { padding: 0; background: none; }
details { border-radius: 6px; margin: 8px 0; }
details.thought { background: var(--thought); padding: 6px 12px; }
summary { cursor: pointer; color: var(--muted); font-size: 13px; }
.call, .result, .picture { margin: 8px 0; }
.call > p, .result > p, .ended { margin: 0; font-size: 13px; }
.error > p b, .ended { color: var(--error); }
img { max-width: 100%; height: auto; border-radius: 6px; }
.k { color: var(--keyword); } .s { color: var(--string); } .m { color: var(--number); } .n { color: var(--name); }
.c { color: var(--muted); }
@media print { body { background: none; } section { break-inside: avoid-page; } }
"""
