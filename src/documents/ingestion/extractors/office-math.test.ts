import { expect, test } from 'vitest'
import { expectLinear } from '../../../../test/harness/timing.ts'
import { buildDocx, buildPptx } from '../testing/build-documents.ts'
import { readBlocks } from '../testing/read-blocks.ts'
import { createFormulaReader } from './office-math.ts'

const math = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
const run = (text: string) => `<m:r><m:t>${text}</m:t></m:r>`
const element = (name: string, ...content: string[]) => `<m:${name}>${content.join('')}</m:${name}>`
const fraction = (one: string, other: string) => element('f', element('num', one), element('den', other))

const formulas: [string, string][] = [
  [run('f') + element('d', element('e', run('x')), element('e', run('y'))) + run('=1'), 'f(x|y)=1'],
  [element('d', '<m:dPr><m:begChr m:val="["/><m:endChr m:val=""/></m:dPr>', element('e', run('x'))), '[x'],
  [fraction(run('a+b'), fraction(run('c'), run('2'))), '(a+b)/(c/2)'],
  [element('f', '<m:fPr><m:type m:val="noBar"/></m:fPr>', element('num', run('n')), element('den', run('k'))), 'n k'],
  [
    element(
      'nary',
      '<m:naryPr><m:chr m:val="∑"/></m:naryPr>',
      element('sub', run('i')),
      element('sup'),
      element('e', run('y')),
    ),
    '∑i y',
  ],
  [
    element(
      'rad',
      element('deg', run('3')),
      element('e', element('sSup', element('e', run('x')), element('sup', run('2')))),
    ),
    '3√x2',
  ],
  [element('func', element('fName', run('sin')), element('e', run('x'))), 'sin x'],
  [
    element('m', element('mr', element('e', run('a')), element('e', run('b'))), element('mr', element('e', run('c')))),
    'a b c',
  ],
]

test.each(formulas)('the signs of a formula are read: %#', async (formula, text) => {
  const docx = `<w:p><w:r><w:t xml:space="preserve">As </w:t></w:r><m:oMath ${math}>${formula}</m:oMath><w:r><w:t>!</w:t></w:r></w:p>`
  expect((await readBlocks('docx', buildDocx(docx))).blocks.map((block) => block.text)).toEqual([`As ${text}!`])
  const shape = `<p:sp><p:txBody><a:p><a:r><a:t>As </a:t></a:r><m:oMath ${math}>${formula}</m:oMath></a:p></p:txBody></p:sp>`
  const slide = await readBlocks('pptx', buildPptx([{ content: shape }]))
  expect(slide.blocks.map((block) => block.text)).toContain(`As ${text}`)
})

test('a long separator is not repeated between many arguments', async () => {
  const separator = `<m:dPr><m:sepChr m:val="${'-'.repeat(10_000)}"/></m:dPr>`
  const formula = element('d', separator, ...Array.from({ length: 100 }, () => element('e', run('x'))))
  const { blocks } = await readBlocks('docx', buildDocx(`<w:p><m:oMath ${math}>${formula}</m:oMath></w:p>`))
  expect(blocks.map((block) => block.text).join('').length).toBeLessThan(10_000)
})

test('a long text in nested brackets takes linear time', async () => {
  const attribute = () => undefined
  const read = (depth: number) => {
    let letters = 0
    const reader = createFormulaReader((formula) => (letters = Buffer.byteLength(formula)))
    const elements = ['m:oMath', ...Array.from({ length: depth }, () => ['m:d', 'm:e']).flat()]
    for (const name of elements) reader.open(name, attribute)
    reader.take('x'.repeat(1_000 * depth))
    for (const name of elements.toReversed()) {
      reader.close(name)
      if (name !== 'm:e') continue
      reader.open('m:e', attribute)
      reader.close('m:e')
    }
    expect(letters).toBe(1_003 * depth)
  }
  await expectLinear(read, 60)
})
