import { expect, test } from 'vitest'
import { accentColours, contrast, pageBackgrounds, parseColour } from './colour.ts'

const chosen = [
  '#000',
  '#fff',
  '#ffff00',
  '#ff0000',
  '#00ff00',
  '#0000ff',
  '#777777',
  '#2f6f73',
  '#e8590c',
  '#f1f3f5',
  'red',
]

test.each(['light', 'dark'] as const)('makes any chosen colour readable on a %s page', (scheme) => {
  for (const colour of chosen) {
    const { fill, onFill, text } = accentColours(colour, scheme)
    const between = (one: string, other: string) => contrast(parseColour(one)!, parseColour(other)!)
    expect(between(fill, onFill), colour).toBeGreaterThanOrEqual(4.5)
    expect(between(fill, pageBackgrounds[scheme]), colour).toBeGreaterThanOrEqual(3)
    expect(between(text, pageBackgrounds[scheme]), colour).toBeGreaterThanOrEqual(4.5)
  }
})

test('leaves a colour that is readable as it is', () => {
  expect(accentColours('#2f6f73', 'light')).toEqual({ fill: '#2f6f73', onFill: '#ffffff', text: '#2f6f73' })
})
