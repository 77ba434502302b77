import { expect, it } from 'vitest'
import { changeSiteSchema } from '../../../../src/contract/sites.ts'
import { changeOf, draftOf } from './site-draft.ts'

const view = { site: null, proposedName: 'handbook', published: true, shareUrl: null, snippet: null }
const draft = draftOf(view, { title: 'Handbook', greeting: 'Hello!' })

it('proposes settings that the server accepts', () => {
  expect(changeSiteSchema.parse(changeOf(draft))).toMatchObject({ name: 'handbook', dailyCapUsd: '5', enabled: true })
})

it('takes the origin of a pasted address, and one origin or question a line', () => {
  const change = changeOf({
    ...draft,
    origins: 'https://www.example.com/shop?a=1\n\n  intranet.example.com:8443 ',
    suggestions: 'What does it cost?\n\n When? ',
  })
  expect(change.allowedOrigins).toEqual(['https://www.example.com', 'https://intranet.example.com:8443'])
  expect(change.suggestions).toEqual(['What does it cost?', 'When?'])
})

it('sends a password only where one is typed and asked for', () => {
  expect(changeOf({ ...draft, access: 'password', password: 'correct horse' }).password).toBe('correct horse')
  expect('password' in changeOf({ ...draft, access: 'password' })).toBe(false)
  expect('password' in changeOf({ ...draft, password: 'correct horse' })).toBe(false)
})
