import { expect, test } from 'vitest'
import { chooseTexts } from './choose-texts.ts'

const leaves = (value: object, prefix = ''): [string, string][] =>
  Object.entries(value).flatMap(([key, text]) =>
    typeof text === 'string' ? [[prefix + key, text] as [string, string]] : leaves(text, `${prefix}${key}.`),
  )
const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort()

test.each(['de', 'fr', 'es', 'it', 'ar'])('has every text with its placeholders in %s', async (language) => {
  const english = leaves((await chooseTexts(['en'])).texts)
  const { texts } = await chooseTexts([language])
  const found = new Map(leaves(texts))
  for (const [key, text] of english) {
    expect(placeholders(found.get(key)!), key).toEqual(placeholders(text))
    expect(found.get(key)!.trim(), key).not.toBe('')
  }
})

test('speaks the first language of the browser that it has, otherwise English', async () => {
  expect((await chooseTexts(['pt-BR', 'de-AT', 'fr'])).language).toBe('de')
  expect((await chooseTexts(['ja'])).language).toBe('en')
  expect((await chooseTexts(['__proto__', 'constructor'])).language).toBe('en')
})
