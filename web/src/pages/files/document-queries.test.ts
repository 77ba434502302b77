import { describe, expect, it } from 'vitest'
import { readListSearch } from './document-queries.ts'

describe('the query of the address', () => {
  it('keeps known filters and leaves out everything else', () => {
    const query = { search: 'plan', status: 'failed', failure: 'no_text', format: 'pdf', sort: 'largest', other: 1 }
    const { other: _, ...known } = query
    expect(readListSearch(query)).toEqual(known)
    const wrong = { search: ['x'], status: 'lost', failure: '../', format: 'exe', sort: 'random' }
    expect(readListSearch(wrong)).toEqual({})
    expect(readListSearch({ sort: 'newest', search: '' })).toEqual({})
  })
})
