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
