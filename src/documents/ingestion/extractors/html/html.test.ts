import { describe, expect, test } from 'vitest'
import { readBlocks } from '../../testing/read-blocks.ts'
import { HtmlTokenizer } from './tokenizer.ts'

const texts = async (content: string | Buffer) => (await readBlocks('html', content)).texts

describe('a page', () => {
  test('keeps headings, paragraphs, lists, quotes and code, and leaves out scripts and navigation', async () => {
    const page = `<!doctype html><html><head><title>Opening hours - Museum</title><style>p { color: red }</style></head>
      <body><header><nav><a href="/">Home</a> <a href="/shop">Shop</a></nav></header>
      <h1>Opening&nbsp;hours</h1><script>if (1 < 2) document.write('<p>written</p>')</script>
      <p>Open from <b>9</b> to\n 17 &amp; on holidays.<br>Closed in May.</p>
      <ul><li>Adults<ol start="3"><li>Groups</li><li>Schools</li></ol><li>Children</ul>
      <blockquote>A fine place.</blockquote><pre>one\n  two</pre>
      <footer>All rights reserved</footer></body></html>`
    const { blocks } = await readBlocks('html', page)
    expect(blocks).toEqual([
      { kind: 'heading', level: 1, text: 'Opening hours' },
      { kind: 'paragraph', text: 'Open from 9 to 17 & on holidays.\nClosed in May.' },
      { kind: 'list_item', text: '- Adults' },
      { kind: 'list_item', text: '3. Groups' },
      { kind: 'list_item', text: '4. Schools' },
      { kind: 'list_item', text: '- Children' },
      { kind: 'quote', text: 'A fine place.' },
      { kind: 'code', text: 'one\n  two' },
    ])
  })

  test('has the parts of formulas apart', async () => {
    const fraction = '<mfrac><mrow><mi>sales</mi><mo>-</mo><mi>cost</mi></mrow><mi>sales</mi></mfrac>'
    const source = '<annotation encoding="application/x-tex">\\frac{s}{c}</annotation>'
    const formula = `<math><semantics><mrow><mn>2</mn><mi>margin</mi><mspace/><mi>rate</mi><mo>=</mo>${fraction}</mrow>${source}</semantics></math>`
    expect(await texts(`<p>The ${formula} is high.</p>`)).toEqual([
      'The 2margin rate=sales-cost/sales \\frac{s}{c} is high.',
    ])
  })

  test('is its main element, if that has a good part of the text', async () => {
    const around = '<div>Sign up for news</div>'
    expect(await texts(`${around}<main><p>The garden has 120 kinds of roses.</p></main>${around}`)).toEqual([
      'The garden has 120 kinds of roses.',
    ])
    const main = `<main>${'<p>The garden has 120 kinds of roses.</p>'.repeat(20)}</main>`
    const links = '<div><a href="/x">A link of a menu with a long name</a></div>'.repeat(30)
    expect((await readBlocks('html', links + main)).warnings).toEqual([])
    const report = '<div>The report of the year is here. </div>'.repeat(10)
    expect((await readBlocks('html', report + main)).warnings).toMatchObject([{ code: 'embedded_content_skipped' }])
    const long = '<p>Much text outside of it.</p>'.repeat(20)
    expect((await texts(`${long}<main>Hi</main>`)).length).toBe(21)
  })

  test('is read whole if hardly anything is outside of its navigation', async () => {
    expect(await texts('<nav>Start <p>The whole page is in here, since the end tag is missing.</p>')).toEqual([
      'Start',
      'The whole page is in here, since the end tag is missing.',
    ])
  })

  test('has the labels of buttons, text between old tags, and descriptions behind long addresses of pictures', async () => {
    const picture = `<img src="data:image/png;base64,${'A'.repeat(100_000)}" alt="Sales by year">`
    expect(
      await texts(
        `<main><h3><button aria-expanded="false">Can I return it?</button></h3>${picture}<xmp>a <b> c</xmp></main>`,
      ),
    ).toEqual(['Can I return it?', 'Sales by year', 'a <b> c'])
  })

  test('has a warning that counts the pictures in it that are large and that nothing describes', async () => {
    const source = (width: number, height: number, rest = 0) => {
      const gif = Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(4 + rest)])
      gif.writeUInt16LE(width, 6)
      gif.writeUInt16LE(height, 8)
      return `data:image/gif;base64,${gif.toString('base64')}`
    }
    const unread = [
      `<img src="${source(400, 300)}">`,
      `<img src='${source(400, 300, 200_000)}' alt="scan 2.png">`,
      `<img src="data:image/svg+xml,${encodeURIComponent('<svg><text>sum</text></svg>').repeat(1_000)}">`,
    ]
    const others = [
      `<img src="${source(400, 300)}" alt="">`,
      `<img src="${source(400, 300)}" alt="Sales by year">`,
      `<img src="${source(120, 80)}">`,
      '<img src="https://a.example/map.png">',
      `<nav><img src="${source(400, 300)}"></nav>`,
    ]
    const counted = await readBlocks('html', `<p>Text.</p>${[...unread, ...others].join('')}`)
    expect(counted.warnings).toEqual([
      { code: 'embedded_content_skipped', message: expect.stringContaining('3 pictures without') },
    ])
    expect((await readBlocks('html', `<p>Text.</p>${others.join('')}`)).warnings).toEqual([])
  })

  test('has its title as the heading where it has no other', async () => {
    expect((await readBlocks('html', '<title>Prices &copy; 2026</title><p>Free.')).blocks[0]).toEqual({
      kind: 'heading',
      level: 1,
      text: 'Prices © 2026',
    })
  })

  test('keeps the addresses of links that their text does not show', async () => {
    expect(
      await texts(
        '<p><a href="https://a.example/x?a=1&amp;b=2">Terms</a>, <a href="/local">local</a>, <a href="mailto:a@b.example">a@b.example</a>, <a href="javascript:alert(1)">run</a></p>',
      ),
    ).toEqual(['Terms (https://a.example/x?a=1&b=2), local, a@b.example, run'])
  })

  test('is decoded as it states', async () => {
    const page = (charset: string) => `<meta charset="${charset}"><p>Grüße, 5 €</p>`
    expect(await texts(Buffer.from(page('windows-1252').replace('€', '\x80'), 'latin1'))).toEqual(['Grüße, 5 €'])
    expect(await texts(Buffer.from(page('utf-8')))).toEqual(['Grüße, 5 €'])
  })
})

describe('a table', () => {
  test('has its header, and the text of a cell of several rows in each of them', async () => {
    const table = `<table><caption>Prices</caption><thead><tr><th>Group<th>Day<th>Euro</thead>
      <tr><td rowspan=2>Adults<td>Monday<td rowspan=2>12<tr><td>Sunday</table>`
    const header = ['Group', 'Day', 'Euro']
    expect((await readBlocks('html', table)).blocks).toEqual([
      { kind: 'paragraph', text: 'Prices' },
      { kind: 'table_row', text: 'Group | Day | Euro', header },
      { kind: 'table_row', text: 'Adults | Monday | 12', row: 1, header },
      { kind: 'table_row', text: 'Adults | Sunday | ', row: 2, header },
    ])
  })

  test('with a table in a cell is layout, and so is one of single cells', async () => {
    const inner = '<table><tr><th>Name<th>Size<tr><td>Rose<td>2</table>'
    const { blocks } = await readBlocks(
      'html',
      `<table><tr><td><h2>Plants</h2></td></tr><tr><td>Left</td><td>Some text ${inner} and more</td></tr></table>`,
    )
    expect(blocks.map(({ kind, text }) => [kind, text])).toEqual([
      ['heading', 'Plants'],
      ['paragraph', 'Left'],
      ['paragraph', 'Some text'],
      ['table_row', 'Name | Size'],
      ['table_row', 'Rose | 2'],
      ['paragraph', 'and more'],
    ])
  })
})

describe('tags', () => {
  const read = (pieces: string[]) => {
    const events: string[] = []
    const tokenizer = new HtmlTokenizer({
      open: (name, attribute) => void events.push(`<${[name, attribute('title')].join(' ').trim()}>`),
      close: (name) => void events.push(`</${name}>`),
      text: (text) => void events.push(text),
    })
    for (const piece of pieces) tokenizer.write(piece)
    tokenizer.finish()
    return events.join('')
  }
  const page =
    '<p title="a > b">x < y<!-- <b> --><br/></P ><title>1 <b></title><script>"</p>"</script>&lt;&#x41;&unknown;&#150;<![CDATA[z]]>end'

  test('are read as browsers read them', () => {
    expect(read([page])).toBe('<p a > b>x < y<br></p><title>1 <b></title><script></script><A&unknown;–end')
  })

  test('may be cut anywhere', () => {
    for (let at = 0; at <= page.length; at += 1) expect(read([page.slice(0, at), page.slice(at)])).toBe(read([page]))
    expect(read([...page])).toBe(read([page]))
  })

  test('that never end keep what is before them', () => {
    expect(read(['text<a href="x'])).toBe('text<a>')
    expect(read(['text<!-- never'])).toBe('text')
    expect(read(['<textarea>typed'])).toBe('<textarea>typed')
  })
})

test('a tsv file has tabs between its cells and commas within them', async () => {
  const { blocks } = await readBlocks('tsv', 'Name\tNote\nRose\tred, tall\nLily\t"white\tsmall"\n')
  expect(blocks.map(({ text }) => text)).toEqual(['Name | Note', 'Rose | red, tall', 'Lily | white small'])
  expect(blocks[1]).toMatchObject({ row: 1, header: ['Name', 'Note'] })
})

test('the labels of drawings are read, but not their titles and styles', async () => {
  const drawing =
    '<svg><title>Icon</title><desc>Drawn</desc><style>text { x: 1 }</style><path d="M0"/><g><text x="1">North <tspan>sea</tspan></text><text>South</text></g><foreignObject><div>West</div></foreignObject></svg>'
  expect(await texts(`<title>Seas</title><p>Depths</p>${drawing}<p>End</p>`)).toEqual([
    'Seas',
    'Depths',
    'North sea',
    'South',
    'West',
    'End',
  ])
})

test('the content of components in a saved page is read, that of a template becomes a warning', async () => {
  const page =
    '<x-card><template shadowrootmode="open"><p>Shown</p></template></x-card><template><p>Unused</p></template>'
  const { texts: found, warnings } = await readBlocks('html', page)
  expect(found).toEqual(['Shown'])
  expect(warnings).toMatchObject([{ code: 'hidden_text' }])
})
