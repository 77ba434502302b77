import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganisationId, createSpaceId, type SpaceId } from '../../platform/kernel/index.ts'
import { type ContextText, createRetrieval, type Embedder, type Passage, type Retrieval } from './index.ts'
import { createIndexFixture, engines, type IndexFixture } from './testing/index-fixture.ts'

describe.each(engines)('%s', (_name, createEngine) => {
  let fixture: IndexFixture
  let retrieval: Retrieval

  beforeAll(async () => {
    fixture = await createIndexFixture({ createEngine })
    retrieval = createRetrieval({ index: fixture.index, embedder: fixture.embedder })
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  async function search(
    query: string,
    options: { spaceId?: SpaceId; limit?: number; context?: ContextText[] } = {},
  ): Promise<Passage[]> {
    const { organisationId, spaceId } = fixture
    await fixture.index.engine.warm()
    return retrieval.search({
      organisationId,
      spaceId,
      filter: null,
      query,
      limit: 5,
      signal: AbortSignal.timeout(30_000),
      ...options,
    })
  }

  describe('search in one Space', () => {
    it('finds the chunk that answers, with its document, link and position', async () => {
      const spaceId = createSpaceId()
      const document = await fixture.add(
        ['The harbour opens at six in the morning.', 'Ferries to the island leave every two hours from pier four.'],
        { spaceId, name: 'Timetable.md', url: 'https://example.org/timetable' },
      )
      const [best] = await search('When do ferries leave for the island?', { spaceId })
      expect(best).toMatchObject({
        documentId: document.id,
        documentName: 'Timetable.md',
        url: 'https://example.org/timetable',
        text: 'Ferries to the island leave every two hours from pier four.',
        headingPath: [],
        tableHeader: null,
        chunkIndex: 1,
      })
      expect(best!.chunkId).toMatch(/^[0-9a-f-]{36}$/)
    })

    it('never finds the same text in another Space or another organisation', async () => {
      const text = 'The quarterly zeppelin inspection is due in March.'
      const own = createSpaceId()
      const mine = await fixture.add([text], { spaceId: own })
      await fixture.add([text], { spaceId: createSpaceId() })
      await fixture.add([text], { organisationId: createOrganisationId(), spaceId: createSpaceId() })
      expect((await search('zeppelin inspection', { spaceId: own })).map((passage) => passage.documentId)).toEqual([
        mine.id,
      ])
      // For another organisation the Space is empty.
      const stranger = {
        organisationId: createOrganisationId(),
        spaceId: own,
        filter: null,
        query: 'zeppelin inspection',
        limit: 5,
      }
      expect(await retrieval.search({ ...stranger, signal: AbortSignal.timeout(30_000) })).toEqual([])
    })

    it('returns as many passages as the limit while enough chunks match, in one document or in many', async () => {
      const spaceId = createSpaceId()
      await fixture.add(
        Array.from({ length: 120 }, (_, row) => `Invoice number ${row} was paid by the treasurer.`),
        { spaceId },
      )
      for (let row = 0; row < 30; row++)
        await fixture.add([`A treasurer signs page ${row} of the ledger.`], { spaceId })
      for (const limit of [1, 5, 50, 140]) {
        const passages = await search('treasurer', { spaceId, limit })
        expect(new Set(passages.map((passage) => passage.chunkId)).size).toBe(limit)
      }
    })

    it('ranks repeats of a text last and still fills the limit with them', async () => {
      const spaceId = createSpaceId()
      const repeated = 'The canteen serves lentil soup on Mondays.'
      for (let copy = 0; copy < 4; copy++) await fixture.add([repeated], { spaceId })
      await fixture.add(['Soup is cooked by a cook with a spoon.'], { spaceId })
      const texts = (await search('lentil soup on Mondays', { spaceId, limit: 5 })).map((passage) => passage.text)
      expect(texts.slice(0, 2)).toEqual([repeated, 'Soup is cooked by a cook with a spoon.'])
      expect(texts.slice(2)).toEqual([repeated, repeated, repeated])
    })

    it('reads further candidates where the best ones repeat a text', async () => {
      const spaceId = createSpaceId()
      const repeated = 'The canteen serves lentil soup on Mondays.'
      for (let copy = 0; copy < 3; copy++) await fixture.add([repeated], { spaceId })
      await fixture.add(['Soup is cooked by a cook with a spoon.'], { spaceId })
      const texts = (await search('lentil soup on Mondays', { spaceId, limit: 2 })).map((passage) => passage.text)
      expect(texts).toEqual([repeated, 'Soup is cooked by a cook with a spoon.'])
    })

    it('finds the answer to a long question, wherever in it the topic is', async () => {
      const spaceId = createSpaceId()
      await fixture.add(
        Array.from({ length: 60 }, (_, row) => `Record ${row} lists common${row % 7} and usual${row % 5} matters.`),
        { spaceId },
      )
      const { id } = await fixture.add(['The okapi grazes in the Ituri forest.'], { spaceId })
      const padding = Array.from({ length: 9_000 }, (_, word) => `common${word} padding${word}`).join(' ')
      const [first] = await search(`${padding} okapi Ituri`, { spaceId })
      expect(first!.documentId).toBe(id)
      const [middle] = await search(`${padding} okapi Ituri ${padding}`, { spaceId })
      expect(middle!.documentId).toBe(id)
    })

    it('ranks by how often a word occurs in the question', async () => {
      const spaceId = createSpaceId()
      const otter = await fixture.add(['An otter by the lake.'], { spaceId })
      const heron = await fixture.add(['A heron by the lake.'], { spaceId })
      const bestOf = async (query: string) => (await search(query, { spaceId }))[0]!.documentId
      expect(await bestOf('otter heron otter otter')).toBe(otter.id)
      expect(await bestOf('otter heron heron heron')).toBe(heron.id)
    })

    it('finds by the words of the context what the question leaves open, and prefers the words of the question', async () => {
      const spaceId = createSpaceId()
      const heron = await fixture.add(['The heron weighs two kilograms.'], { spaceId })
      const swan = await fixture.add(['The swan weighs ten kilograms.'], { spaceId })
      await fixture.add(['The otter swims in the lake.'], { spaceId })
      const bestOf = async (query: string, context: ContextText[]) =>
        (await search(query, { spaceId, context }))[0]!.documentId
      const earlier = [{ text: 'Tell me about the heron of the lake.', weight: 0.2 }]
      expect(await bestOf('How much does it weigh?', earlier)).toBe(heron.id)
      expect(await bestOf('How much does the swan weigh?', earlier)).toBe(swan.id)
      expect(await bestOf('?', earlier)).toBe(heron.id)
    })

    it('embeds the question with the two heaviest texts of its context, in one call', async () => {
      const embedded: string[][] = []
      const embedder: Embedder = {
        ...fixture.embedder,
        embed(request) {
          embedded.push(request.texts)
          return fixture.embedder.embed(request)
        },
      }
      const context = ['first', 'second', 'third'].map((text, index) => ({ text, weight: (index + 1) / 10 }))
      const { organisationId } = fixture
      const scope = {
        organisationId,
        spaceId: createSpaceId(),
        filter: null,
        limit: 5,
        signal: AbortSignal.timeout(30_000),
      }
      await fixture.add(['Bees make honey.'], scope)
      await createRetrieval({ index: fixture.index, embedder }).search({ ...scope, query: 'honey', context })
      expect(embedded).toEqual([['honey', 'third', 'second']])
    })

    it('ranks the same when another language is detected for one chunk', async () => {
      const spaceId = createSpaceId()
      await fixture.add(
        Array.from(
          { length: 40 },
          (_, row) => `This is what the guide says about the trail number ${row} in the park.`,
        ),
        { spaceId, name: 'guide.txt' },
      )
      await fixture.add(['Los Angeles, El Paso, La Jolla, De La Cruz, Los Gatos: in the what is the'], {
        spaceId,
        name: 'names.txt',
      })
      const { id } = await fixture.add(['The ranger opens the gate of the park at six.'], { spaceId, name: 'gate.txt' })
      const [best] = await search('What is the time in which the ranger opens the gate in the park?', { spaceId })
      expect(best!.documentId).toBe(id)
    })

    it('finds nothing where nothing matches', async () => {
      const spaceId = createSpaceId()
      await fixture.add(['Bees make honey.'], { spaceId })
      expect(await search('quantum chromodynamics', { spaceId })).toEqual([])
      expect(await search('honey', { spaceId: createSpaceId() })).toEqual([])
    })
  })

  describe('queries of any kind', () => {
    it.each([
      [
        'German, by another form of the word',
        'Was steht zu Kündigungen?',
        'Die Kündigung muss dem Vermieter schriftlich zugehen.',
      ],
      ['German without umlauts', 'kundigung vermieter', 'Die Kündigung muss dem Vermieter schriftlich zugehen.'],
      ['French with an elided article', "les tarifs de l'hôtel", "L'hôtel publie son tarif pour la saison d'été."],
      ['Russian, by another case', 'доставка посылки', 'Посылку доставят курьером в течение недели.'],
      ['Chinese without spaces', '退货政策', '本店的退货政策适用于所有商品。'],
      ['a single Han character', '税', '请按时缴纳税款。'],
      ['Japanese', '有給休暇', '年次有給休暇は入社半年後に付与されます。'],
      ['Korean', '회의실 예약', '회의실을 예약하려면 관리자에게 문의하세요.'],
      ['Thai', 'คืนเงิน', 'บริษัทจะคืนเงินภายในสิบสี่วัน'],
      ['Arabic', 'سياسة الخصوصية', 'تشرح سياسة الخصوصية كيف نستخدم البيانات.'],
      ['an emoji next to words', 'pizza 🍕', 'Pizza is baked at four hundred degrees.'],
      ['a part number', 'XJ-9000/B', 'Replace the filter XJ-9000/B once a year.'],
      ['full-width letters', 'ＰＩＺＺＡ', 'Pizza is baked at four hundred degrees.'],
      ['a misspelled word', 'refrigeratr maintenence', 'Refrigerator maintenance is done by the janitor.'],
    ])('finds %s', async (_name, query, answer) => {
      const [best] = await search(query, { spaceId: await unicodeSpace() })
      expect(best?.text).toBe(answer)
    })

    let unicodeSpaceId: SpaceId | undefined
    async function unicodeSpace(): Promise<SpaceId> {
      if (unicodeSpaceId) return unicodeSpaceId
      unicodeSpaceId = createSpaceId()
      const texts = [
        'Die Kündigung muss dem Vermieter schriftlich zugehen.',
        "L'hôtel publie son tarif pour la saison d'été.",
        'Посылку доставят курьером в течение недели.',
        '本店的退货政策适用于所有商品。',
        '请按时缴纳税款。',
        '年次有給休暇は入社半年後に付与されます。',
        '회의실을 예약하려면 관리자에게 문의하세요.',
        'บริษัทจะคืนเงินภายในสิบสี่วัน',
        'تشرح سياسة الخصوصية كيف نستخدم البيانات.',
        'Pizza is baked at four hundred degrees.',
        'Replace the filter XJ-9000/B once a year.',
        'Refrigerator maintenance is done by the janitor.',
      ]
      for (const text of texts) await fixture.add([text], { spaceId: unicodeSpaceId })
      return unicodeSpaceId
    }

    it.each([
      ['operators', `honey & !bees | <-> (* : ) "make honey" -bees honey:*A`],
      ['quotes and backslashes', `honey' or 1=1; drop table chunks; -- \\' "`],
      ['a null character and a lone surrogate', 'honey \u0000 \ud800 bees'],
      ['format strings', 'honey %s $1 {0} ${x}'],
      ['a query of a megabyte', `honey ${'x'.repeat(1_000_000)}`],
      ['ten thousand different words', `honey ${Array.from({ length: 10_000 }, (_, word) => `word${word}`).join(' ')}`],
    ])('treats %s as plain words', async (_name, query) => {
      const spaceId = createSpaceId()
      await fixture.add(['Bees make honey.', 'Wasps do not.'], { spaceId })
      expect((await search(query, { spaceId }))[0]?.text).toBe('Bees make honey.')
    })

    it.each(['', '   ', '?!…', '\u0000', '—'])('returns nothing for the empty query %j', async (query) => {
      const spaceId = createSpaceId()
      await fixture.add(['Bees make honey.'], { spaceId })
      expect(await search(query, { spaceId })).toEqual([])
    })
  })

  describe('limits and failures', () => {
    it('stops when the client leaves', async () => {
      const { organisationId, spaceId } = fixture
      const signal = AbortSignal.abort(new Error('gone'))
      await expect(
        retrieval.search({ organisationId, spaceId, filter: null, query: 'honey', limit: 5, signal }),
      ).rejects.toThrow('gone')
    })

    it('ends at its deadline with request_timeout', async () => {
      const spaceId = createSpaceId()
      await fixture.add(['Bees make honey.'], { spaceId })
      const stuck = withEmbed(
        ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      )
      const impatient = createRetrieval({ index: fixture.index, embedder: stuck, timeoutMs: 100 })
      const request = { organisationId: fixture.organisationId, spaceId, filter: null, query: 'honey', limit: 5 }
      await expect(impatient.search({ ...request, signal: AbortSignal.timeout(30_000) })).rejects.toMatchObject({
        code: 'request_timeout',
      })
    })

    it('searches by terms alone when the query cannot be embedded', async () => {
      const spaceId = createSpaceId()
      await fixture.add(['Bees make honey.'], { spaceId })
      const broken = withEmbed(() => Promise.reject(new Error('the provider is down')))
      const passages = await createRetrieval({ index: fixture.index, embedder: broken }).search({
        organisationId: fixture.organisationId,
        spaceId,
        filter: null,
        query: 'honey',
        limit: 5,
        signal: AbortSignal.timeout(30_000),
      })
      expect(passages.map((passage) => passage.text)).toEqual(['Bees make honey.'])
    })

    function withEmbed(embed: Embedder['embed']): Embedder {
      return { ...fixture.embedder, embed }
    }
  })
})
