import { expect, it } from 'vitest'
import { spaceSchema } from '../../../../src/contract/operator.ts'
import { changesOf, draftOf } from './space-draft.ts'

/** Another value of each setting. */
function other(value: unknown): unknown {
  if (typeof value === 'boolean') return !value
  if (value === 'auto') return 'off'
  return value === null || value === '' ? 1 : Number(value) + 1
}

it('saves a change of every setting of a Space, and nothing else', () => {
  const settings = {
    maximumPassages: 30,
    maximumPassageTokens: 8_000,
    wholeSpaceTokens: 6_000,
    baseTierFallback: false,
    temperature: null,
    maximumOutputTokens: null,
    maximumToolCostUsd: null,
    keepUnansweredQuestions: false,
    keepConversations: false,
    conversationDays: 30,
    queryRewriting: 'auto' as const,
    attribution: 'auto' as const,
    ocr: 'auto' as const,
    ocrLanguages: ['eng'],
    requiredFilter: ['customer'],
  }
  expect(Object.keys(settings).toSorted()).toEqual(Object.keys(spaceSchema.shape.settings.shape).toSorted())
  const space = { name: 'Handbook', instructions: '', model: 'portico/offline', settings } as Parameters<
    typeof draftOf
  >[0]
  const draft = draftOf(space)
  expect(changesOf(draft, space)).toBeUndefined()
  expect(changesOf({ ...draft, ocrLanguages: 'deu, eng' }, space)).toEqual({
    settings: { ocrLanguages: ['deu', 'eng'] },
  })
  expect(changesOf({ ...draft, requiredFilter: [] }, space)).toEqual({ settings: { requiredFilter: [] } })
  for (const name of Object.keys(settings) as (keyof typeof settings)[]) {
    if (name === 'ocrLanguages' || name === 'requiredFilter') continue
    const value = other(draft[name])
    expect(changesOf({ ...draft, [name]: value }, space)).toEqual({ settings: { [name]: value } })
  }
})
