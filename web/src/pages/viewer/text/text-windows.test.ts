import { describe, expect, it } from 'vitest'
import { markRange } from './mark-range.ts'
import { cutWindow, windowAt, windowCount, windowQuery } from './text-windows.ts'

/** The answer of the server for a window. */
function load(text: string, window: number) {
  const query = new URLSearchParams(windowQuery(window))
  const from = Number(query.get('from'))
  const part = [...text].slice(from, Number(query.get('to'))).join('')
  return { from, text: part }
}

function windowsOf(text: string) {
  return Array.from({ length: windowCount([...text].length) }, (_, index) => cutWindow(load(text, index), index))
}

describe('the windows of a long text', () => {
  it.each([
    ['lines of any length', Array.from({ length: 900 }, (_, n) => `🙂 ${'wörter '.repeat(n % 40)}${n}`).join('\n')],
    ['one line without an end', '漢'.repeat(45_000)],
    ['a line that ends exactly at a border', `${'a'.repeat(9_999)}\n${'b'.repeat(9_999)}\n${'c'.repeat(50)}`],
    ['a long line at a border', `${'a'.repeat(9_000)}\n${'b'.repeat(7_000)}\n${'c'.repeat(9_000)}`],
  ])('show every code point once, with its position: %s', (_case, text) => {
    const windows = windowsOf(text)
    expect(windows.map((window) => window.text).join('')).toBe(text)
    let position = 0
    for (const window of windows) {
      if (window.text !== '') expect(window.from).toBe(position)
      position += [...window.text].length
    }
  })

  it('cut no line that is shorter than 2,000 characters', () => {
    const text = Array.from({ length: 400 }, (_, n) => `${n} ${'x'.repeat((n * 37) % 1_500)}`).join('\n')
    for (const window of windowsOf(text).slice(0, -1)) expect(window.text.endsWith('\n')).toBe(true)
  })

  it('are numbered by position', () => {
    expect([windowAt(0), windowAt(9_999), windowAt(10_000)]).toEqual([0, 0, 1])
  })
})

describe('a marked range', () => {
  it('is counted in code points', () => {
    const text = 'a🙂漢🧵b'
    const marked = (from: number, to: number) =>
      markRange(text, 100, { from, to }).flatMap((part) => (part.isMarked ? [part.text] : []))
    expect(marked(101, 103)).toEqual(['🙂漢'])
    expect(marked(103, 104)).toEqual(['🧵'])
    expect(marked(0, 102)).toEqual(['a🙂'])
    expect(marked(104, 900)).toEqual(['b'])
    expect(marked(0, 100)).toEqual([])
    expect(marked(105, 110)).toEqual([])
    expect(markRange(text, 100, undefined)).toEqual([{ text, isMarked: false }])
  })
})
