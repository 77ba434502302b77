import { describe, expect, test } from 'vitest'
import { defaultLimits } from '../../isolation/limits.ts'
import { buildPdfWithFiles } from '../../testing/attached-pdf.ts'
import { buildDocx, buildTextPdf, buildXlsx, docxParagraph, sheetRows } from '../../testing/build-documents.ts'
import { readBlocks } from '../../testing/read-blocks.ts'
import { maximumWarnings } from '../../warning-list.ts'

const attachment = (name: string, content: Buffer | string, type = 'application/octet-stream') =>
  `Content-Type: ${type}; name="${name}"\r\nContent-Disposition: attachment; filename="${name}"\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(content).toString('base64').replace(/.{76}/g, '$&\r\n')}`
const multipart = (kind: string, boundary: string, ...parts: string[]) =>
  `Content-Type: multipart/${kind}; boundary="${boundary}"\r\n\r\npreamble\r\n${parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('')}--${boundary}--\r\nepilogue`

test('has the subject, the headers that readers see, and the text in its richest form', async () => {
  const { blocks } = await readBlocks(
    'eml',
    `From: =?utf-8?Q?J=C3=BCrgen_M=C3=BCller?= <j@example.org>\r\nTo: a@example.org,\r\n b@example.org\r\nReceived: from somewhere\r\nSubject: =?ISO-8859-1?B?${Buffer.from('Grüße ', 'latin1').toString('base64')}?=\r\n =?utf-8?B?${Buffer.from('von uns').toString('base64')}?=\r\n${multipart(
      'alternative',
      'b 1',
      'Content-Type: text/plain\r\n\r\nRich text costs 5',
      'Content-Type: text/html; charset=windows-1252\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>Rich =\r\ntext costs 5=80</p>',
    )}`,
  )
  expect(blocks).toEqual([
    { kind: 'heading', level: 1, text: 'Grüße von uns' },
    { kind: 'paragraph', text: 'From: Jürgen Müller <j@example.org>\nTo: a@example.org, b@example.org' },
    { kind: 'paragraph', text: 'Rich text costs 5€' },
  ])
})

test('reads attachments of every supported type under their names, and names the others', async () => {
  const inner = `Subject: Earlier\r\n\r\nAn earlier message.`
  const { blocks, warnings } = await readBlocks(
    'eml',
    `Subject: Files\r\n${multipart(
      'mixed',
      'outer',
      multipart(
        'related',
        'inner',
        'Content-Type: text/plain; charset=utf-8\r\n\r\nSee the files.',
        attachment('logo.gif', 'x', 'image/gif'),
      ),
      attachment(
        'prices.xlsx',
        buildXlsx([
          {
            name: 'Prices',
            rows: sheetRows([
              ['Plant', 'Euro'],
              ['Rose', 3],
            ]),
          },
        ]),
      ),
      attachment('letter.docx', buildDocx(docxParagraph('Dear all'))),
      attachment('page.pdf', buildTextPdf([{ texts: [{ text: 'On a page', x: 50, y: 700 }] }])),
      attachment('notes.txt', 'Grüße', 'text/plain; charset=utf-8'),
      `Content-Type: message/rfc822\r\n\r\n${inner}`,
      attachment('chart.docx', buildDocx(docxParagraph('See below') + '<w:altChunk/>')),
      attachment('broken.docx', 'no zip'),
      attachment('photo.zip', 'PK'),
    )}`,
  )
  expect(blocks.map(({ kind, level, text }) => [kind, level, text])).toEqual([
    ['heading', 1, 'Files'],
    ['paragraph', undefined, 'See the files.'],
    ['heading', 2, 'prices.xlsx'],
    ['heading', 3, 'Prices'],
    ['table_row', undefined, 'Plant | Euro'],
    ['table_row', undefined, 'Rose | 3'],
    ['heading', 2, 'letter.docx'],
    ['paragraph', undefined, 'Dear all'],
    ['heading', 2, 'page.pdf'],
    ['paragraph', undefined, 'On a page'],
    ['heading', 2, 'notes.txt'],
    ['paragraph', undefined, 'Grüße'],
    ['heading', 2, 'Message.eml'],
    ['heading', 3, 'Earlier'],
    ['paragraph', undefined, 'An earlier message.'],
    ['heading', 2, 'chart.docx'],
    ['paragraph', undefined, 'See below'],
    ['heading', 2, 'broken.docx'],
  ])
  expect(blocks.every(({ page }) => page === undefined)).toBe(true)
  expect(warnings.map(({ code, message }) => [code, message.slice(0, 40)])).toEqual([
    ['embedded_content_skipped', 'Attachment chart.docx: Text that was ins'],
    ['damaged_parts', 'The attachment broken.docx was not read '],
    ['embedded_content_skipped', 'Attachments were not read, because their'],
  ])
  expect(warnings.at(-1)!.message).toContain('logo.gif, photo.zip')
})

test('attachments count in the bytes that a file may unpack to', async () => {
  const inner = buildPdfWithFiles('Inner.', [{ name: 'deep.txt', content: 'd'.repeat(3_000) }])
  const { texts, warnings } = await readBlocks(
    'eml',
    `Subject: Files\r\n${multipart('mixed', 'b', attachment('inner.pdf', inner), attachment('large.txt', 'x'.repeat(3_000)), attachment('small.txt', 'Small.'))}`,
    { readsEmbedded: true, limits: { ...defaultLimits('eml', 10_000), maximumUnpackedBytes: inner.length + 2_000 } },
  )
  expect(texts).toEqual(['Files', 'inner.pdf', 'Inner.', 'small.txt', 'Small.'])
  expect(warnings.map(({ message }) => message)).toEqual([
    expect.stringContaining('not read: deep.txt. '),
    expect.stringContaining('too large when they are unpacked: large.txt. '),
  ])
})

test('names every attachment that is not read in few warnings', async () => {
  const names = Array.from({ length: 60 }, (_, index) => `a file with a long name ${index}.zip`)
  const { warnings } = await readBlocks(
    'eml',
    `Subject: Files\r\n${multipart('mixed', 'b', ...names.map((name) => attachment(name, 'PK')))}`,
  )
  expect(warnings.length).toBeLessThan(maximumWarnings / 2)
  expect(warnings.every(({ message }) => message.length < 500)).toBe(true)
  const named = warnings.map(({ message }) => message).join()
  expect(names.filter((name) => !named.includes(name))).toEqual([])
})

test('reads names in pieces and encoded, and a message that is cut short', async () => {
  const { texts } = await readBlocks(
    'eml',
    "Subject: Cut\nContent-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\nContent-Disposition: attachment; filename*0*=utf-8''%C3%9Cber; filename*1*=sicht.txt\n\nOverview",
  )
  expect(texts).toEqual(['Cut', 'Übersicht.txt', 'Overview'])
})

test('reads messages within messages and parts within parts to a bound', async () => {
  const nested = (depth: number): string =>
    depth === 0
      ? 'Subject: Inmost\r\n\r\nText'
      : `Subject: Level ${depth}\r\nContent-Type: message/rfc822\r\n\r\n${nested(depth - 1)}`
  const messages = await readBlocks('eml', nested(50))
  expect(messages.texts).toContain('Level 46')
  expect(messages.texts).not.toContain('Level 45')
  expect(messages.warnings).toMatchObject([{ code: 'embedded_content_skipped' }])
  const parts = Array.from(
    { length: 500 },
    (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n`,
  )
  const deep = await readBlocks('eml', `Subject: Deep\r\n${parts.join('')}\r\nText`)
  expect(deep.warnings).toMatchObject([{ code: 'truncated' }])
})

describe('an alternative', () => {
  const read = async (html: string) => {
    const plain = `The committee met and agreed on the plan for the harbour. https://a.example/${'x'.repeat(500)}`
    const parts = [`Content-Type: text/plain\r\n\r\n${plain}`, `Content-Type: text/html\r\n\r\n${html}`]
    return (await readBlocks('eml', multipart('alternative', 'b', ...parts))).texts.join(' ')
  }

  test.each(['<html><body></body></html>', '<p>See text.</p><style>p { color: red; margin: 0 0 0 0 }</style>'])(
    'in html without the text is left for the plain one: %s',
    async (html) => expect(await read(html)).toContain('committee'),
  )

  test('in html is read alone if only its addresses are shorter', async () => {
    const html = '<p>The committee met, and <b>agreed</b> on the <a href="/plan">plan</a> for the harbour.</p>'
    expect(await read(html)).toBe('The committee met, and agreed on the plan for the harbour.')
  })

  test('in html with another text is followed by the paragraphs that only the plain one has', async () => {
    expect(await read('<p>The meeting is on Monday.</p>')).toMatch(
      /^The meeting is on Monday. The committee met and agreed/,
    )
  })
})

test('leaves out small pictures that the text shows, and names others that are not read', async () => {
  const picture = (name: string, id: string, content = Buffer.from('PNG')) =>
    `Content-Type: image/png; name="${name}"\r\nContent-Disposition: inline; filename="${name}"\r\nContent-Transfer-Encoding: base64\r\n${id}\r\n${content.toString('base64')}`
  const large = Buffer.from(`89504e470d0a1a0a0000000d49484452${'00000400'.repeat(2)}${'00'.repeat(40)}`, 'hex')
  const { warnings } = await readBlocks(
    'eml',
    multipart(
      'related',
      'b',
      'Content-Type: text/html\r\n\r\n<p>Best wishes <img src="cid:logo%40a.example"> <img src="cid:screen"></p>',
      picture('logo.png', 'Content-ID: <logo@a.example>\r\n'),
      picture('screen.png', 'Content-ID: <screen>\r\n', large),
      picture('scan.png', 'Content-ID: <scan@a.example>\r\n'),
      picture('photo.png', ''),
    ),
  )
  expect(warnings.map(({ message }) => /\w+\.png/.exec(message)![0])).toEqual(['screen.png', 'scan.png', 'photo.png'])
})

describe('files in the text of a message', () => {
  /** As uuencode writes them: 45 bytes a line, a grave accent for zero. */
  function uuencode(name: string, content: Buffer): string {
    const character = (value: number) => (value === 0 ? '`' : String.fromCharCode(value + 0x20))
    const lines: string[] = []
    for (let at = 0; at < content.length; at += 45) {
      const bytes = content.subarray(at, at + 45)
      let line = character(bytes.length)
      for (let place = 0; place < bytes.length; place += 3) {
        const [one = 0, two = 0, three = 0] = bytes.subarray(place, place + 3)
        const group = (one << 16) | (two << 8) | three
        line += [18, 12, 6, 0].map((shift) => character((group >> shift) & 0x3f)).join('')
      }
      lines.push(line)
    }
    return ['begin 644 ' + name, ...lines, '`', 'end'].join('\r\n')
  }
  const letter = buildDocx(docxParagraph('Dear all'))

  test('that are uuencoded are attachments', async () => {
    const { texts, warnings } = await readBlocks(
      'eml',
      `Subject: Old\r\n\r\nSee the files.\r\n\r\n${uuencode('a letter.docx', letter)}\r\n${uuencode('notes.txt', Buffer.from('Bring shoes.'))}\r\n\r\nBest wishes`,
    )
    expect(texts).toEqual([
      'Old',
      'See the files.',
      'Best wishes',
      'a letter.docx',
      'Dear all',
      'notes.txt',
      'Bring shoes.',
    ])
    expect(warnings).toEqual([])
  })

  test('can be a part in this encoding, and text about it stays text', async () => {
    const part = `Content-Type: application/octet-stream; name=letter.docx\r\nContent-Transfer-Encoding: x-uuencode\r\n\r\n${uuencode('letter.docx', letter)}`
    const plain = 'Content-Type: text/plain\r\n\r\nbegin 644 the line\r\nand end it.'
    const { texts } = await readBlocks('eml', `Subject: Part\r\n${multipart('mixed', 'b', plain, part)}`)
    expect(texts).toEqual(['Part', 'begin 644 the line\nand end it.', 'letter.docx', 'Dear all'])
  })
})

test('reads an encoded message within it, and warns of nothing for its signature', async () => {
  const inner = Buffer.from('Subject: Inner\r\n\r\nThe inner text.').toString('base64')
  const { texts, warnings } = await readBlocks(
    'eml',
    multipart(
      'signed',
      'b',
      `Content-Type: message/global\r\nContent-Transfer-Encoding: BASE64 (as it is)\r\n\r\n${inner}`,
      attachment('smime.p7s', 'x', 'application/pkcs7-signature'),
    ),
  )
  expect(texts).toEqual(['Message.eml', 'Inner', 'The inner text.'])
  expect(warnings).toEqual([])
})

test('decodes a character that two encoded words share, and prefers the extended name of a file', async () => {
  const bytes = Buffer.from('Grüße')
  const word = (part: Buffer) => `=?UTF-8?B?${part.toString('base64')}?=`
  const name = `Content-Type: text/plain\r\nContent-Disposition: attachment; filename="Ubersicht.txt"; filename*=UTF-8''%C3%9Cbersicht.txt`
  const { texts } = await readBlocks(
    'eml',
    `Subject: ${word(bytes.subarray(0, 3))} ${word(bytes.subarray(3))}\r\n${multipart('mixed', 'b', `${name}\r\n\r\nAll of it`)}`,
  )
  expect(texts).toEqual(['Grüße', 'Übersicht.txt', 'All of it'])
})

describe('winmail.dat', () => {
  const number = (value: number) => Buffer.from(Uint32Array.of(value).buffer)
  /** An attribute of [MS-OXTNEF]: level, id, length, data and a checksum, which is not checked. */
  const attribute = (id: number, data: Buffer) =>
    Buffer.concat([Buffer.of(1), number(id), number(data.length), data, Buffer.alloc(2)])
  const property = (type: number, id: number, value: Buffer) =>
    Buffer.concat([number((id << 16) | type), number(1), number(value.length), value, Buffer.alloc(-value.length & 3)])
  /** A property with a name, whose value has 4 bytes. */
  const named = Buffer.concat([
    number(0x80010003),
    Buffer.alloc(16),
    number(1),
    number(6),
    Buffer.from('a\0b\0c\0\0\0'),
    number(7),
  ])
  const properties = (id: number, ...list: Buffer[]) => attribute(id, Buffer.concat([number(list.length), ...list]))
  const wide = (text: string) => Buffer.from(`${text}\0`, 'utf16le')
  const file = (name: string, content: Buffer) =>
    Buffer.concat([
      attribute(0x00069002, Buffer.alloc(14)),
      attribute(0x00018010, Buffer.from('SHORT~1.TXT\0')),
      attribute(0x0006800f, content),
      properties(0x00069005, named, property(0x1f, 0x3707, wide(name))),
    ])
  const embedded = (name: string, tnef: Buffer) =>
    Buffer.concat([
      attribute(0x00069002, Buffer.alloc(14)),
      properties(
        0x00069005,
        property(0x0d, 0x3701, Buffer.concat([Buffer.alloc(16), tnef])),
        property(0x1f, 0x3001, wide(name)),
      ),
    ])
  const body = (text: string) => properties(0x00069003, property(0x1f, 0x1000, wide(text)))
  const tnef = (...attributes: Buffer[]) => Buffer.concat([number(0x223e9f78), Buffer.alloc(2), ...attributes])
  const read = (packed: Buffer, text = '') =>
    readBlocks(
      'eml',
      `Subject: Packed\r\n${multipart('mixed', 'b', `Content-Type: text/plain\r\n\r\n${text}`, attachment('winmail.dat', packed, 'application/ms-tnef'))}`,
    )

  test('has its files and messages read under their names, and its text where there is no other', async () => {
    const packed = tnef(
      body('The text in it.'),
      file('Überblick.txt', Buffer.from('All prices.')),
      embedded('Earlier', tnef(body('An earlier text.'), file('list.csv', Buffer.from('a,b\n1,2')))),
      file('data.bin', Buffer.from([1, 2, 3])),
    )
    const { texts, warnings } = await read(packed)
    expect(texts).toEqual([
      'Packed',
      'The text in it.',
      'Überblick.txt',
      'All prices.',
      'Earlier',
      'An earlier text.',
      'list.csv',
      'a | b',
      '1 | 2',
    ])
    expect(warnings).toMatchObject([{ code: 'embedded_content_skipped', message: expect.stringContaining('data.bin') }])
    expect((await read(packed, 'The text of the message.')).texts.slice(1, 3)).toEqual([
      'The text of the message.',
      'Überblick.txt',
    ])
  })

  test('that is cut short, of another form, or with a text in Rich Text is a warning', async () => {
    const whole = tnef(file('a.txt', Buffer.from('First.')), file('b.txt', Buffer.from('Second.')))
    const cut = await read(whole.subarray(0, -30), 'Text')
    expect(cut.texts).toContain('First.')
    for (const { warnings } of [cut, await read(Buffer.from('no such form'), 'Text')])
      expect(warnings).toMatchObject([
        { code: 'embedded_content_skipped', message: expect.stringContaining('winmail.dat') },
      ])
    const rich = await read(tnef(properties(0x00069003, property(0x102, 0x1009, Buffer.from('LZFu')))))
    expect(rich.warnings).toMatchObject([
      { code: 'embedded_content_skipped', message: expect.stringContaining('Rich Text') },
    ])
  })
})
