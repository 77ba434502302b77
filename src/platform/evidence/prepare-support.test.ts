import { describe, expect, it } from 'vitest'
import { patternsOfLeads } from './claims.ts'
import { slowPatterns } from './negation-words.ts'
import { prepareInTurns, prepareSupport } from './prepare-support.ts'
import { supports } from './support.ts'

describe('the first comparison of a process', () => {
  it('is prepared in turns of the event loop', async () => {
    let turns = 0
    let isDone = false
    const count = () => {
      turns++
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    await prepareInTurns()
    isDone = true
    expect(turns).toBeGreaterThanOrEqual(slowPatterns.length + patternsOfLeads.length + 5)
  })

  it('is prepared once for two that ask at the same time', () => {
    expect(prepareSupport()).toBe(prepareSupport())
  })

  it('compiles no pattern that ignores the case of all scripts', () => {
    for (const pattern of [...slowPatterns, ...patternsOfLeads])
      expect(pattern.ignoreCase || pattern.source.includes(String.raw`\p{L}`)).toBe(false)
  })

  it.each([
    ['Dogs are allowed in the garden.', 'DOGS ARE NOT ALLOWED IN THE GARDEN.', false],
    ['DOGS ARE ALLOWED IN THE GARDEN.', 'Dogs are allowed in the garden.', true],
    ['DER AUFZUG IST AUSSER BETRIEB, ER IST GESPERRT.', 'Der Aufzug ist geöffnet.', false],
  ])('%s next to %s: %s', (sentence, text, expected) => {
    expect(supports(sentence, { title: 'rules.md', text })).toBe(expected)
  })
})
