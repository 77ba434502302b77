import { expect, test } from 'vitest'
import { readClaims } from './claims.ts'
import { supports } from './support.ts'

const guide = {
  title: 'Guide',
  text: [
    'Make sure you understand the deed before you sign it. If you are not comfortable with any of the terms, do not sign it.',
    'Most parties that win an appeal ask the court to pay the costs.',
    'A late fee is interest, regardless of whether the payment was willful.',
  ].join(' '),
}
const statement = 'if you’re uncomfortable with any terms, don’t sign it.'

test.each([
  ['However, ', ''],
  ['According to the provided passages, ', ''],
  ['It is important to note that ', ''],
  ['Here is what applies: ', ''],
  ['In short, ', ''],
  ['', ', as mentioned in the text'],
])('what is around a statement and states nothing does not count: %s … %s', (lead, tail) => {
  const sentence = (own: string) => `${lead}${own.replace(/\.$/, tail)}.`
  expect(supports(sentence(statement), guide)).toBe(true)
  expect(supports(sentence(statement.replace('don’t ', '')), guide)).toBe(false)
})

test('a letter that is longer in lower case leaves nothing of a tail', () => {
  const sentence = 'İzmir, İstanbul, İznik, İskenderun and İnegöl have a port'
  expect(readClaims(`${sentence}, according to the text.`).words).toEqual(readClaims(`${sentence}.`).words)
})
