/* page_script.c: what a page can do besides being read: contents that fold, choices, code that is copied, series
 * that hide, and (page_zoom.c) plots that are magnified. Without it all is shown. It changes what the page has, and
 * fetches nothing. In pieces, because compilers need not take longer strings. */
#include "page/page.h"

#include <stddef.h>

const char *const ct__page_script[] = {
    "'use strict';\n"
    "(function () {\n"
    "  document.documentElement.classList.add('js');\n"
    "  const all = (root, what) => Array.from(root.querySelectorAll(what));\n",

    "  /* contents: open where they have a column of their own; the section in view stands out */\n"
    "  const contents = document.querySelector('nav details');\n"
    "  if (contents) {\n"
    "    const wide = window.matchMedia('(min-width: 68rem)');\n"
    "    const fit = () => { contents.open = wide.matches; };\n"
    "    fit();\n"
    "    wide.addEventListener('change', fit);\n"
    "    contents.addEventListener('click', (e) => { if (e.target.closest('a')) fit(); });\n"
    "    const links = all(contents, 'a');\n"
    "    const sections = links.map((a) => document.getElementById(a.getAttribute('href').slice(1)));\n"
    "    let waiting = false;\n"
    "    const follow = () => {\n"
    "      waiting = false;\n"
    "      let now = 0;\n"
    "      sections.forEach((s, i) => { if (s.getBoundingClientRect().top < window.innerHeight / 3) now = i; });\n"
    "      links.forEach((a, i) => { if (i === now) a.setAttribute('aria-current', 'true'); else "
    "a.removeAttribute('aria-current'); });\n"
    "    };\n"
    "    follow();\n"
    "    window.addEventListener('scroll', () => { if (!waiting) { waiting = true; requestAnimationFrame(follow); } }, "
    "{ passive: true });\n"
    "  }\n",

    "  /* choices: a tab each, moved between by arrows, or a list */\n"
    "  all(document, '.choices').forEach((box) => {\n"
    "    const panels = all(box, '.choice'), tabs = all(box, '[role=tab]'), list = box.querySelector('.chooser "
    "select');\n"
    "    const show = (i) => {\n"
    "      panels.forEach((p) => p.classList.toggle('off', Number(p.dataset.choice) !== i));\n"
    "      tabs.forEach((t, k) => { t.setAttribute('aria-selected', String(k === i)); t.tabIndex = k === i ? 0 : -1; "
    "});\n"
    "    };\n"
    "    tabs.forEach((tab, i) => {\n"
    "      tab.addEventListener('click', () => show(i));\n"
    "      tab.addEventListener('keydown', (e) => {\n"
    "        const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[e.key];\n"
    "        if (to === undefined) return;\n"
    "        e.preventDefault();\n"
    "        const k = (to + tabs.length) % tabs.length;\n"
    "        show(k);\n"
    "        tabs[k].focus();\n"
    "      });\n"
    "    });\n"
    "    if (list) list.addEventListener('change', () => show(list.selectedIndex));\n"
    "    show(list ? list.selectedIndex : 0);\n"
    "  });\n",

    "  /* code: copied, or where that is not allowed, selected */\n"
    "  all(document, '.copy').forEach((button) => {\n"
    "    const code = button.parentNode.querySelector('code');\n"
    "    const say = (word) => { button.textContent = word; setTimeout(() => { button.textContent = 'Copy'; }, 1500); "
    "};\n"
    "    const select = () => {\n"
    "      window.getSelection().selectAllChildren(code);\n"
    "      let done = false;\n"
    "      try { done = document.execCommand('copy'); } catch (e) { done = false; }\n"
    "      say(done ? 'Copied' : 'Selected');\n"
    "    };\n"
    "    button.addEventListener('click', () => {\n"
    "      if (navigator.clipboard && window.isSecureContext) navigator.clipboard.writeText(code.textContent).then(() "
    "=> say('Copied'), select);\n"
    "      else select();\n"
    "    });\n"
    "  });\n",

    "  /* legends: a series is hidden and shown again */\n"
    "  all(document, '.plot').forEach((figure) => all(figure, '.key').forEach((key) => {\n"
    "    key.setAttribute('aria-pressed', 'true');\n"
    "    key.addEventListener('click', () => {\n"
    "      const shown = key.getAttribute('aria-pressed') !== 'true';\n"
    "      key.setAttribute('aria-pressed', String(shown));\n"
    "      all(figure, '.s[data-s=\\'' + key.dataset.s + '\\']').forEach((s) => { s.style.display = shown ? '' : "
    "'none'; });\n"
    "    });\n"
    "  }));\n",
    NULL};
