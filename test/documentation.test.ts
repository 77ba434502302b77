import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'

/** The rules of docs/README.md and docs/decisions/README.md. */

const docs = path.join(import.meta.dirname, '../docs')
const read = (file: string) => readFileSync(path.join(docs, file), 'utf8')
const pagesIn = (folder: string) =>
  readdirSync(path.join(docs, folder)).filter((file) => file.endsWith('.md') && file !== 'README.md')
/** The second paragraph of a page; the first is its title. */
const leadOf = (file: string) => read(file).split('\n\n')[1] ?? ''

describe.each(['use', 'operate', 'understand'])('each page of docs/%s', (shelf) => {
  test.each(pagesIn(shelf))('%s names its readers below the title', (file) => {
    expect(leadOf(`${shelf}/${file}`)).toMatch(/(?:^|[.:]\s)For .+\.$/s)
  })

  test.each(pagesIn(shelf))('%s is in the index of the shelf', (file) => {
    expect(read(`${shelf}/README.md`)).toContain(`](${file})`)
  })
})

describe('decisions', () => {
  const files = pagesIn('decisions').toSorted()
  const index = read('decisions/README.md')

  test('have different numbers', () => {
    const numbers = files.map((file) => file.slice(0, 4))
    expect(numbers).toEqual([...new Set(numbers)])
  })

  test('are at most 60', () => {
    expect(files.length).toBeLessThanOrEqual(60)
  })

  test.each(files)('%s has its number, a date, context, choice and consequence, and is in the index', (file) => {
    const text = read(`decisions/${file}`)
    const number = file.slice(0, 4)
    expect(text).toMatch(new RegExp(`^# ${number}: .+\n\n\\d{4}-\\d{2}-\\d{2}\\. For .+\\.\n`))
    expect([...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)).toEqual([
      'Context',
      'Choice',
      'Consequence',
    ])
    const title = text.slice(`# ${number}: `.length, text.indexOf('\n'))
    expect(index).toContain(`[${number}](${file}) ${title}\n`)
  })
})
