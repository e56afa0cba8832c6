"""Drawings as one page of HTML that needs no network.

The page shows one drawing large and all of them small; arrow keys and buttons go from one to the
next. Without scripts it is a list of all drawings.
"""

from __future__ import annotations

from collections.abc import Sequence

from batchsolve.errors import counted
from batchsolve.pictures.svg import STYLE, Drawing, as_svg, escape

PAGE_STYLE = """
:root{color-scheme:light dark;--page:#fff;--text:#15181c;
--line:#c9ced5;--faint:#636a73;--mark:#1358b8}
@media(prefers-color-scheme:dark){
:root{--page:#14171b;--text:#eceff2;--line:#434b55;--faint:#a2a9b2;--mark:#8cbcff}}
*{box-sizing:border-box}
body{margin:0 auto;padding:12px;max-width:1100px;background:var(--page);color:var(--text);
font:16px/1.4 system-ui,sans-serif}
h1{font-size:1.15rem;margin:0;overflow-wrap:anywhere}
p{margin:.2rem 0 .8rem;color:var(--faint)}
figure{margin:0}
figcaption{color:var(--faint);font-size:.85rem}
figure svg{display:block;height:auto}
#all{display:grid;gap:12px;grid-template-columns:repeat(auto-fill,minmax(min(100%,300px),1fr))}
#viewer{display:none}
.js #viewer{display:block}
.js #all{gap:8px;grid-template-columns:repeat(auto-fill,minmax(88px,1fr))}
.js #all figure{cursor:pointer;padding:4px;border:2px solid transparent;border-radius:6px}
.js #all figure:hover{border-color:var(--line)}
.js #all figure[aria-current=true]{border-color:var(--mark)}
:focus-visible{outline:3px solid var(--mark);outline-offset:2px}
#large svg{display:block;width:100%;max-height:62vh}
nav{display:flex;gap:8px;align-items:center;justify-content:center;margin:10px 0 16px}
button{font:inherit;min-width:48px;min-height:44px;padding:0 14px;border:1px solid var(--line);
border-radius:8px;background:transparent;color:inherit;cursor:pointer}
button:disabled{opacity:.35;cursor:default}
#where{min-width:7.5em;text-align:center;font-variant-numeric:tabular-nums}
@media print{.js #viewer{display:none}}
"""

_SCRIPT = """
(() => {
  const all = [...document.querySelectorAll('#all figure')];
  const large = document.getElementById('large'), where = document.getElementById('where');
  const [first, back, next, last] = document.querySelectorAll('nav button');
  let at = -1;
  const show = (k, move) => {
    k = Math.min(Math.max(k, 0), all.length - 1);
    if (k === at) return;
    if (at >= 0) all[at].removeAttribute('aria-current');
    at = k;
    all[k].setAttribute('aria-current', 'true');
    large.replaceChildren(all[k].querySelector('svg').cloneNode(true));
    where.textContent = (k + 1) + ' of ' + all.length;
    first.disabled = back.disabled = k === 0;
    next.disabled = last.disabled = k === all.length - 1;
    if (move) all[k].scrollIntoView({block: 'nearest'});
    history.replaceState(null, '', '#' + (k + 1));
  };
  const named = () => (parseInt(location.hash.slice(1)) || 1) - 1;
  document.documentElement.classList.add('js');
  all.forEach((figure, k) => {
    figure.tabIndex = 0;
    figure.setAttribute('role', 'button');
    figure.onclick = () => { show(k); document.getElementById('viewer').scrollIntoView(); };
  });
  first.onclick = () => show(0);
  back.onclick = () => show(at - 1);
  next.onclick = () => show(at + 1);
  last.onclick = () => show(all.length - 1);
  addEventListener('hashchange', () => show(named()));
  addEventListener('keydown', event => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const figure = document.activeElement.closest('#all figure');
    if (event.key === 'ArrowLeft') show(at - 1, true);
    else if (event.key === 'ArrowRight') show(at + 1, true);
    else if (event.key === 'Home') show(0, true);
    else if (event.key === 'End') show(all.length - 1, true);
    else if (figure && (event.key === 'Enter' || event.key === ' ')) figure.click();
    else return;
    event.preventDefault();
  });
  let from = null;
  large.addEventListener('touchstart', event => { from = event.touches[0].clientX; },
    {passive: true});
  large.addEventListener('touchend', event => {
    const by = event.changedTouches[0].clientX - from;
    if (Math.abs(by) > 50) show(at + (by < 0 ? 1 : -1));
  });
  show(named());
})();
"""

_VIEWER = """<section id="viewer" aria-label="One drawing, large">
<div id="large" aria-live="polite"></div>
<nav aria-label="Drawings">
<button aria-label="First">&#171;</button><button aria-label="Previous">&#8249;</button>
<span id="where"></span>
<button aria-label="Next">&#8250;</button><button aria-label="Last">&#187;</button>
</nav>
</section>
"""


def page(drawings: Sequence[Drawing], title: str, note: str) -> str:
    """Return a page of HTML that shows drawings.

    Parameters
    ----------
    drawings : sequence of Drawing
        One or more.
    title : str
        The subject of the drawings.
    note : str
        A line below the title.

    Examples
    --------
    >>> text = page([Drawing(80, 40, "", "a board")] * 2, "dominoes:1x2", "both")
    >>> text.count("<figure>"), "http" in text.replace("http://www.w3.org/2000/svg", "")
    (2, False)
    """
    several = len(drawings) > 1
    figures = "".join(
        f"<figure>{as_svg(drawing, f'{title}, drawing {k}' if several else title, style=False)}"
        f"{f'<figcaption>{k}</figcaption>' if several else ''}</figure>\n"
        for k, drawing in enumerate(drawings, 1)
    )
    script = f"<script>{_SCRIPT}</script>\n" if several else ""
    return html_page(
        f"{title}: {counted(len(drawings), 'drawing')}",
        f"{STYLE}{PAGE_STYLE}",
        f"<h1>{escape(title)}</h1>\n<p>{escape(note)}</p>\n"
        f"{_VIEWER if several else ''}"
        f'<main id="{"all" if several else "one"}">\n{figures}</main>\n'
        f"{script}",
    )


def html_page(title: str, style: str, body: str) -> str:
    """Return a page of HTML that needs no other file: a title in plain text, CSS, and its body."""
    return (
        "<!DOCTYPE html>\n"
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n"
        f"<style>{style}</style>\n</head>\n<body>\n"
        f"{body}</body>\n</html>\n"
    )
