import { describe, expect, test } from 'vitest'
import { buildDocx, buildPptx, buildXlsx, docxParagraph, sheetRows } from '../testing/build-documents.ts'
import { readBlocks } from '../testing/read-blocks.ts'

const relationshipType = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const relationships = (...targets: [id: string, type: string, target: string][]) =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${targets
    .map(([id, type, target]) => `<Relationship Id="${id}" Type="${relationshipType}/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`

const title = (text: string) =>
  `<c:title><c:tx><c:rich><a:p><a:r><a:t>${text}</a:t></a:r></a:p></c:rich></c:tx></c:title>`
const points = (values: (string | number)[]) =>
  values.map((value, index) => `<c:pt idx="${index}"><c:v>${value}</c:v></c:pt>`).join('')
const texts = (values: string[]) => `<c:strRef><c:strCache>${points(values)}</c:strCache></c:strRef>`
const numbers = (values: number[], format = 'General') =>
  `<c:numRef><c:numCache><c:formatCode>${format}</c:formatCode>${points(values)}</c:numCache></c:numRef>`
const series = (name: string, categories: string, values: string) =>
  `<c:ser><c:tx>${texts([name])}</c:tx><c:cat>${categories}</c:cat><c:val>${values}</c:val></c:ser>`
const chart = (content: string, head = title('Visitors of the museum')) =>
  `<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><c:chart>${head}<c:plotArea>${content}</c:plotArea></c:chart></c:chartSpace>`

const years = texts(['2024', '007'])
const bars = chart(
  `<c:barChart>${series('Adults', years, numbers([1200, 1350.5]))}${series('Share', years, numbers([0.25, 0.3], '0%'))}</c:barChart><c:catAx>${title('Year')}</c:catAx>`,
)
const shown = ['Visitors of the museum', 'Year', ' | Adults | Share', '2024 | 1200 | 25%', '007 | 1350.5 | 30%']

const reference = (element: string) => `<w:p><w:r><w:drawing>${element}</w:drawing></w:r></w:p>`
const chartReference = `<c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:r="${relationshipType}" r:id="c1"/>`

describe('a chart', () => {
  test('of a docx is at its place, with its titles and values', async () => {
    const body = docxParagraph('Before it.') + reference(chartReference) + docxParagraph('Behind it.')
    const { texts: found, warnings } = await readBlocks(
      'docx',
      buildDocx(body, {
        'word/_rels/document.xml.rels': relationships(['c1', 'chart', 'charts/chart1.xml']),
        'word/charts/chart1.xml': bars,
      }),
    )
    expect(found).toEqual(['Before it.', ...shown, 'Behind it.'])
    expect(warnings).toEqual([])
  })

  test('of a slide follows its texts', async () => {
    const { texts: found, warnings } = await readBlocks(
      'pptx',
      buildPptx([{ content: '' }], {
        'ppt/slides/_rels/1.xml.rels': relationships(['c1', 'chart', '../charts/chart1.xml']),
        'ppt/charts/chart1.xml': bars,
      }),
    )
    expect(found).toEqual(['Slide 1', ...shown])
    expect(warnings).toEqual([])
  })

  test('of a sheet gives its titles, because its values are those of cells', async () => {
    const { texts: found } = await readBlocks(
      'xlsx',
      buildXlsx([{ name: 'S', rows: sheetRows([['Only text.']]) }], {
        parts: {
          'xl/worksheets/_rels/0.xml.rels': relationships(['d', 'drawing', '../drawings/1.xml']),
          'xl/drawings/1.xml':
            '<d:wsDr xmlns:d="x" xmlns:a="y"><d:sp><d:txBody><a:p><a:r><a:t>A remark.</a:t></a:r></a:p></d:txBody></d:sp></d:wsDr>',
          'xl/drawings/_rels/1.xml.rels': relationships(['c', 'chart', '../charts/1.xml']),
          'xl/charts/1.xml': bars,
        },
      }),
    )
    expect(found).toEqual(['S', 'Only text.', 'A remark.', 'Visitors of the museum, Year'])
  })

  test('of a sheet gives what is typed into it, and values of another file', async () => {
    const typed = `<c:ser><c:tx><c:v>Last year</c:v></c:tx><c:val>${numbers([1])}</c:val></c:ser>`
    const quoted = typed.replace(
      '<c:v>Last year</c:v>',
      `<c:strRef><c:f>"Target"</c:f><c:strCache>${points(['Target'])}</c:strCache></c:strRef>`,
    )
    const literal = `<c:ser><c:tx><c:v>Plan</c:v></c:tx><c:cat><c:strLit>${points(['May'])}</c:strLit></c:cat><c:val><c:numLit>${points([40])}</c:numLit></c:val></c:ser>`
    const foreign = series(
      'Other',
      texts(['June']),
      numbers([50]).replace('<c:numRef>', '<c:numRef><c:f>[1]S!$A$1</c:f>'),
    )
    const { texts: found } = await readBlocks(
      'xlsx',
      buildXlsx([{ name: 'S', rows: sheetRows([['Only text.']]) }], {
        parts: {
          'xl/worksheets/_rels/0.xml.rels': relationships(['d', 'drawing', '../drawings/1.xml']),
          'xl/drawings/1.xml': '<d:wsDr xmlns:d="x"/>',
          'xl/drawings/_rels/1.xml.rels': relationships(['c', 'chart', '../charts/1.xml']),
          'xl/charts/1.xml': chart(`<c:barChart>${typed}${quoted}${literal}${foreign}</c:barChart>`),
        },
      }),
    )
    expect(found).toEqual([
      'S',
      'Only text.',
      'Visitors of the museum, Last year, Target',
      ' | Plan',
      'May | 40',
      ' | Other',
      'June | 50',
    ])
  })

  test('has a table for each group of series with the same categories, and the outer categories too', async () => {
    const levels = `<c:multiLvlStrRef><c:multiLvlStrCache><c:lvl>${points(['May', 'June'])}</c:lvl><c:lvl>${points(['2024', '2025'])}</c:lvl></c:multiLvlStrCache></c:multiLvlStrRef>`
    const scatter = `<c:ser><c:xVal>${numbers([1, 2])}</c:xVal><c:yVal>${numbers([10, 20])}</c:yVal></c:ser>`
    const { texts: found } = await readBlocks(
      'docx',
      buildDocx(reference(chartReference), {
        'word/_rels/document.xml.rels': relationships(['c1', 'chart', 'charts/chart1.xml']),
        'word/charts/chart1.xml': chart(series('Adults', levels, numbers([3, 4])) + scatter, ''),
      }),
    )
    expect(found).toEqual([' | Adults', '2024, May | 3', '2025, June | 4', '1 | 10', '2 | 20'])
  })

  test('has sizes of bubbles, labels from cells and typed ones, and the shapes drawn on it', async () => {
    const label = (point: number, text: string) =>
      `<c:dLbl><c:idx val="${point}"/><c:tx><c:rich><a:p><a:r><a:t>${text}</a:t></a:r><a:fld type="VALUE"><a:t>[VALUE]</a:t></a:fld></a:p></c:rich></c:tx></c:dLbl>`
    const ranges = `<c:extLst><c:ext><x:datalabelsRange xmlns:x="x"><x:dlblRangeCache>${points(['north', 'south'])}</x:dlblRangeCache></x:datalabelsRange></c:ext></c:extLst>`
    const one = series('Adults', years, numbers([3, 4])).replace(
      '<c:cat>',
      `<c:dLbls>${label(1, 'Strike')}</c:dLbls><c:cat>`,
    )
    const other = series('Areas', years, numbers([5, 6])).replace(
      '</c:ser>',
      `<c:bubbleSize>${numbers([7, 8])}</c:bubbleSize></c:ser>`,
    )
    const third = series('Sides', years, numbers([1, 2])).replace('</c:ser>', `${ranges}</c:ser>`)
    const part = chart(one + other + third, '')
    const { texts: found } = await readBlocks(
      'docx',
      buildDocx(reference(chartReference), {
        'word/_rels/document.xml.rels': relationships(['c1', 'chart', 'charts/chart1.xml']),
        'word/charts/chart1.xml': part,
        'word/charts/_rels/chart1.xml.rels': relationships(['u', 'chartUserShapes', '../drawings/1.xml']),
        'word/drawings/1.xml':
          '<c:userShapes xmlns:c="c" xmlns:a="y"><d:sp xmlns:d="d"><d:txBody><a:p><a:r><a:t>Goal</a:t></a:r></a:p></d:txBody></d:sp></c:userShapes>',
      }),
    )
    expect(found).toEqual([
      ' | Adults | Areas | Sides',
      '2024 | 3 | 5 (7) | 1 (north)',
      '007 | 4 (Strike) | 6 (8) | 2 (south)',
      'Goal',
    ])
  })

  test('with more values than are read is a warning', async () => {
    const values = Array.from({ length: 20_100 }, (_, index) => index)
    const { warnings } = await readBlocks(
      'docx',
      buildDocx(reference(chartReference), {
        'word/_rels/document.xml.rels': relationships(['c1', 'chart', 'charts/chart1.xml']),
        'word/charts/chart1.xml': chart(series('Many', '', numbers(values))),
      }),
    )
    expect(warnings).toEqual([{ code: 'truncated', message: expect.stringContaining('Charts') }])
  })

  test.each([
    ['without stored values', chart(series('Adults', years, ''))],
    ['that is no XML', 'x < y'],
  ])('%s is a warning', async (_, part) => {
    const { warnings } = await readBlocks(
      'docx',
      buildDocx(docxParagraph('The text.') + reference(chartReference), {
        'word/_rels/document.xml.rels': relationships(['c1', 'chart', 'charts/chart1.xml']),
        'word/charts/chart1.xml': part,
      }),
    )
    expect(warnings).toEqual([{ code: 'embedded_content_skipped', message: expect.stringContaining('charts') }])
  })
})

test('a diagram of a docx is read', async () => {
  const { texts: found, warnings } = await readBlocks(
    'docx',
    buildDocx(reference(`<x:relIds xmlns:x="x" xmlns:r="${relationshipType}" r:dm="d1" r:lo="d2"/>`), {
      'word/_rels/document.xml.rels': relationships(['d1', 'diagramData', 'diagrams/data1.xml']),
      'word/diagrams/data1.xml':
        '<x:dataModel xmlns:x="x" xmlns:a="y"><x:pt><x:t><a:bodyPr/><a:p><a:r><a:t>First step</a:t></a:r></a:p></x:t></x:pt></x:dataModel>',
    }),
  )
  expect(found).toEqual(['First step'])
  expect(warnings).toEqual([])
})
