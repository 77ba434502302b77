import { describe, expect, test } from 'vitest'
import { buildDocx, buildTextPdf, buildXlsx, docxParagraph, sheetRows } from '../../testing/build-documents.ts'
import { readBlocks } from '../../testing/read-blocks.ts'

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
      'Content-Type: text/plain\r\n\r\nPlain text',
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
    ['heading', 2, 'broken.docx'],
  ])
  expect(blocks.every(({ page }) => page === undefined)).toBe(true)
  expect(warnings.map(({ code, message }) => [code, message.slice(0, 40)])).toEqual([
    ['embedded_content_skipped', 'The attachment logo.gif was not read: it'],
    ['damaged_parts', 'The attachment broken.docx was not read '],
    ['embedded_content_skipped', 'The attachment photo.zip was not read: i'],
  ])
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

  test('in html is read if only its addresses are shorter', async () => {
    expect(await read('<p>The committee met and agreed.</p>')).toBe('The committee met and agreed.')
  })
})

test('leaves out the pictures that the text shows, and names others that are not read', async () => {
  const picture = (name: string, id: string) =>
    `Content-Type: image/png; name="${name}"\r\nContent-Disposition: inline; filename="${name}"\r\n${id}\r\nPNG`
  const { warnings } = await readBlocks(
    'eml',
    multipart(
      'related',
      'b',
      'Content-Type: text/html\r\n\r\n<p>Best wishes <img src="cid:logo%40a.example"></p>',
      picture('logo.png', 'Content-ID: <logo@a.example>\r\n'),
      picture('scan.png', 'Content-ID: <scan@a.example>\r\n'),
      picture('photo.png', ''),
    ),
  )
  expect(warnings.map(({ message }) => /\w+\.png/.exec(message)![0])).toEqual(['scan.png', 'photo.png'])
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

test('reads an encoded message within it, and names the remedy for winmail.dat', async () => {
  const inner = Buffer.from('Subject: Inner\r\n\r\nThe inner text.').toString('base64')
  const { texts, warnings } = await readBlocks(
    'eml',
    multipart(
      'mixed',
      'b',
      `Content-Type: message/global\r\nContent-Transfer-Encoding: BASE64 (as it is)\r\n\r\n${inner}`,
      attachment('winmail.dat', '\x78\x9f\x3e\x22', 'application/ms-tnef'),
    ),
  )
  expect(texts).toEqual(['Message.eml', 'Inner', 'The inner text.'])
  expect(warnings).toMatchObject([{ code: 'embedded_content_skipped', message: expect.stringContaining('Outlook') }])
})
