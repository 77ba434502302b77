/** Pages of html that look a little like tables and are none; a table found in one of them is false. */
export function pagesWithoutTables(paragraphs: string[]): Record<string, string> {
  const sentences = paragraphs.flatMap((text) => text.split(/(?<=[.!?]) /)).filter((text) => text.length > 20)
  const words = sentences.join(' ').match(/[A-Za-z]{4,}/g)!
  return { ...lists(sentences, words), ...layouts(paragraphs, sentences, words) }
}

/** Contents, programs and lists. */
function lists(sentences: string[], words: string[]): Record<string, string> {
  return {
    contents: some(sentences, 30)
      .map((text, index) => apart(`${index + 1} ${text.slice(0, 40)}`, String(index * 3 + 1)))
      .join(''),
    'contents with dots': lines(
      some(sentences, 30).map((text, index) => `${text.slice(0, 30)} ${'. '.repeat(30)} ${index * 4}`),
    ),
    program: `<pre>${some(words, 40)
      .map(
        (word, index) =>
          `${' '.repeat((index % 4) * 4)}const ${word.padEnd(14)} = ${word}(${index});    // ${some(words, 3, index + 1).join(' ')}`,
      )
      .join('\n')}</pre>`,
    listing: `<pre>${some(words, 40)
      .map((word, index) => `${String(index * 16).padStart(8, '0')}  mov   ${word.slice(0, 4)}, [${word}+${index}]`)
      .join('\n')}</pre>`,
    'numbered list': `<ol>${lines(some(sentences, 25), 'li')}</ol>`,
    bullets: `<ul>${lines(
      some(sentences, 25).map((text) => text.slice(0, 24)),
      'li',
    )}</ul>`,
    bibliography: lines(some(sentences, 20).map((text, index) => `[${index + 1}]&emsp;&emsp;${text}`)),
  }
}

/** Texts next to each other, in columns or in boxes. */
function layouts(paragraphs: string[], sentences: string[], words: string[]): Record<string, string> {
  return {
    letter:
      sideBySide([
        `${words[0]} ${words[1]}<br>12 ${words[2]} Street<br>London`,
        `Tel. 020 7946 0${words.length % 900}<br>12 March 2024<br>Our reference 4711`,
      ]) + lines(some(paragraphs, 4)),
    form: lines(some(words, 18).map((word) => `${word}:&emsp;&emsp;&emsp;________________________`)),
    labels: some(words, 18)
      .map((word, index) => apart(`${word}:`, words[index * 11]!))
      .join(''),
    'three narrow columns': `<div style="columns:3;font-size:8pt">${lines(some(paragraphs, 14))}</div>`,
    'two ragged columns': `<div style="columns:2;text-align:left">${lines(some(paragraphs, 14))}</div>`,
    'justified narrow columns': `<div style="columns:4;text-align:justify;font-size:8pt">${lines(some(paragraphs, 12))}</div>`,
    'subject index': `<div style="columns:3;font-size:8pt">${lines(
      some(words, 150, 13)
        .sort()
        .map((word, index) => `${word}, ${index + 3}, ${index + 90}`),
      'div',
    )}</div>`,
    dialogue: some(sentences, 24)
      .map(
        (text, index) =>
          `<div style="display:flex;gap:16pt"><b style="width:60pt">${index % 2 ? 'ANNA' : 'BORIS'}</b><span style="flex:1">${text}</span></div>`,
      )
      .join(''),
    'side notes': some(paragraphs, 8)
      .map((text) =>
        sideBySide([
          `<div style="width:330pt">${text}</div>`,
          `<div style="width:90pt;font-size:8pt">${text.slice(0, 90)}</div>`,
        ]),
      )
      .join(''),
    poems: sideBySide([
      lines(
        some(sentences, 24, 5).map((text) => text.slice(0, 36)),
        'div',
      ),
      lines(
        some(sentences, 24, 11).map((text) => text.slice(0, 36)),
        'div',
      ),
    ]),
    'boxed notes': some(paragraphs, 6)
      .map((text) => `<div style="border:1pt solid black;padding:6pt;margin:6pt 0">${text}</div>`)
      .join(''),
    'boxed columns': `<div style="display:flex;gap:0">${lines(
      some(paragraphs, 3).map((text) => `<div style="border:1pt solid black;padding:6pt">${text}</div>`),
      'div',
    )}</div>`,
    chart: chart(words),
    'boxed form': form(words),
    formulas: lines(
      some(words, 16).map(
        (word, index) =>
          `<span style="margin-left:90pt">${word.slice(0, 1)} = ${index} x + ${index * 2} y</span><span style="float:right">(${index + 1})</span>`,
      ),
    ),
  }
}

function some<Item>(from: readonly Item[], count: number, step = 7): Item[] {
  return Array.from({ length: count }, (_, index) => from[(index * step) % from.length]!)
}

function lines(texts: string[], tag = 'p'): string {
  return texts.map((text) => `<${tag}>${text}</${tag}>`).join('')
}

function apart(left: string, right: string): string {
  return `<div style="display:flex;justify-content:space-between"><span>${left}</span><span>${right}</span></div>`
}

function sideBySide(columns: string[]): string {
  return `<div style="display:flex;gap:20pt">${lines(columns, 'div')}</div>`
}

/** Bars over a grid of lines, with names and numbers at the axes. */
function chart(words: string[]): string {
  const at = (index: number) => 40 + index * 44
  const line = (from: [number, number], to: [number, number]) =>
    `<line x1="${from[0]}" y1="${from[1]}" x2="${to[0]}" y2="${to[1]}" stroke="black" stroke-width="0.7"/>`
  const lines = Array.from({ length: 9 }, (_, index) => [
    line([at(0), 20 + index * 30], [at(9), 20 + index * 30]),
    line([at(index), 20], [at(index), 260]),
    `<rect x="${at(index) + 12}" y="${240 - index * 22}" width="20" height="${20 + index * 22}" fill="#889"/>`,
    `<text x="6" y="${24 + index * 30}">${80 - index * 10}</text>`,
    `<text x="${at(index) + 8}" y="275">${words[index * 5]!.slice(0, 5)}</text>`,
    `<text x="${at(index) + 12}" y="${236 - index * 22}">${index * 9 + 4}</text>`,
  ])
  return `<svg width="460" height="290" font-size="9">${lines.flat().join('')}</svg>`
}

/** Boxes with a label each, most of them empty. */
function form(words: string[]): string {
  const box = (index: number) =>
    `<div style="border:0.7pt solid black;height:26pt;width:${90 + (index % 3) * 40}pt;font-size:7pt">${words[index * 7]} ${words[index * 3]}<br>${index % 4 ? '' : words[index]}</div>`
  const row = (from: number) =>
    `<div style="display:flex">${[0, 1, 2].map((offset) => box(from + offset)).join('')}</div>`
  return Array.from({ length: 9 }, (_, index) => row(index * 2)).join('')
}
