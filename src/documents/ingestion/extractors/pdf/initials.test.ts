import { expect, test } from 'vitest'
import { buildTextPdf, type PdfText } from '../../testing/build-documents.ts'
import { readBlocks } from '../../testing/read-blocks.ts'

const lines = (texts: string[], x: number, y: number): PdfText[] =>
  texts.map((text, at) => ({ text, x, y: y - at * 12 }))

test('a large first letter is part of the word that it begins, wherever it is drawn', async () => {
  const texts = [
    ...lines(['he tenant pays the rent on the first day', 'of each month to the owner of the house.'], 98, 700),
    ...lines(['A receipt is sent.'], 72, 676),
    { text: 'T', x: 78, y: 686, size: 34 },
  ]
  const found = (await readBlocks('pdf', buildTextPdf([{ texts }]))).texts.join(' ').replaceAll(/\s+/g, ' ')
  expect(found).toBe(
    'The tenant pays the rent on the first day of each month to the owner of the house. A receipt is sent.',
  )
})

test('a large letter with one line next to it stays alone', async () => {
  const texts = [{ text: 'A', x: 72, y: 700, size: 34 }, ...lines(['chapter of its book'], 102, 705)]
  expect((await readBlocks('pdf', buildTextPdf([{ texts }]))).texts.join(' ')).not.toContain('Achapter')
})
