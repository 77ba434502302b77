import { describe, expect, it } from 'vitest'
import { compareRoles, readRoles } from './roles.ts'
import { readClaims } from './claims.ts'
import { readEvidence } from './evidence.ts'
import { compareClaims, concludeSupport, supports } from './support.ts'

const passage = [
  'Brightwater acquired Tanner Mills in 2019. The tenant pays the electricity, the landlord pays water and heating.',
  'The mayor appoints the heads of the departments, and the council confirms them.',
  'The fridge is cleaned every Friday by the cooks. The dishwasher is emptied by the trainees.',
  'The librarian returns the scores to the publisher. Maria Keller founded Helio Labs with Jonas Brandt.',
  'The budget office reviews spending and reports to the council twice a year.',
  'Brandt has led the firm since Keller left. Results are not sent to the press.',
].join(' ')

describe('who does what to whom', () => {
  it.each([
    'Tanner Mills acquired Brightwater in 2019.',
    'Brightwater was acquired by Tanner Mills.',
    'The landlord pays the electricity.',
    'The tenant pays water and heating.',
    'The council appoints the heads of the departments.',
    'The mayor confirms the heads of the departments.',
    'The trainees clean the fridge.',
    'The publisher returns the scores to the librarian.',
    'The council reports to the budget office twice a year.',
    'Keller has led the firm since then.',
  ])('is another one in: %s', (sentence) => {
    expect(supports(sentence, { title: '', text: passage })).toBe(false)
  })

  it.each([
    'Tanner Mills was acquired by Brightwater in 2019.',
    'Electricity is paid by the tenant.',
    'Water and heating are paid by the landlord.',
    'The heads of departments are appointed by the mayor and confirmed by the council.',
    'Every Friday the cooks clean the fridge.',
    'The trainees empty the dishwasher.',
    'The librarian sends the scores back to the publisher.',
    'Jonas Brandt founded Helio Labs together with Maria Keller.',
    'The budget office reports to the council every six months.',
    'Brandt has led the firm.',
  ])('is the same in: %s', (sentence) => {
    expect(supports(sentence, { title: '', text: passage })).toBe(true)
  })

  it.each([
    ['of what is denied', 'Bern did not pay Basel.', 'Basel paid Bern.'],
    ['where both may come first', 'Bern borders Basel.', 'Basel borders Bern.'],
    ['of a noun like the verb', 'Anna manages Ben.', "Ben's manager is Anna."],
    ['where an adverb stands for a verb', 'Monaco, specifically the ward of Bern.', 'Bern, and specifically the ward.'],
    ['where the text states both', 'Bern paid Basel.', 'Basel paid Bern, and later Bern paid Basel.'],
    [
      'where a word with "ing" is no verb',
      'It offers lessons, which consist of short classes helping guests in learning about plans for cooking and staying active.',
      'Lessons: short classes that help guests in learning about plans for cooking and staying active.',
    ],
    [
      'where a gerund has an object',
      'Plans help in sorting and managing access to keys.',
      'Plans for sorting and assigning access to keys. Managing comes later.',
    ],
    [
      'where a noun is before the verb',
      'The current tax rate is 2.9 % of income, paid by all.',
      'Given your income, your federal tax rate of income is low. The current year is over.',
    ],
    ['of a place', 'The value of land increases in the area.', 'Land in that area will increase in value.'],
    [
      'of items without a verb',
      'The games are Gaelic football, rugby league and rugby union.',
      'The kinds: American rugby league, either rugby union or Gaelic football.',
    ],
    ['with a heading', 'Builders may offer a free visit.', 'Frauds: builders. A dishonest man may offer a free visit.'],
    ['behind a pronoun', 'They pay the electricity.', 'The tenant pays the electricity.'],
    [
      'of a name and a role, which may be the same one',
      'The engineer founded the firm.',
      'Anna Lind founded the firm. The engineer left.',
    ],
  ])('is not compared %s', (_, sentence, text) => {
    expect(compareRoles(readRoles(sentence), readRoles(text))).not.toBe('swapped')
  })

  it('counts as stated where one of several passages states it', () => {
    const claims = readClaims('Bern paid Basel for the bridge.')
    const verdictOf = (...texts: string[]) =>
      concludeSupport(
        claims,
        texts.map((text) => compareClaims(claims, readEvidence({ title: '', text }))),
      ).verdict
    expect(verdictOf('Basel paid Bern for the bridge.')).toBe('unsupported')
    expect(verdictOf('Basel paid Bern for the bridge.', 'Bern paid Basel for the bridge.')).toBe('supported')
  })
})
