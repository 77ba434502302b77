import { describe, test } from 'vitest'
import { expectLinear, isMeasurable } from './harness/timing.ts'
import { cleanName } from '../src/documents/documents/document-name.ts'
import { memberTexts } from '../src/documents/documents/document-metadata.ts'
import { detectFormat, detectionHeadBytes } from '../src/documents/ingestion/detect-format.ts'
import { HtmlPage } from '../src/documents/ingestion/extractors/html/page.ts'
import { HtmlTokenizer } from '../src/documents/ingestion/extractors/html/tokenizer.ts'
import { SseParser } from '../src/platform/kernel/index.ts'
import { mapError as mapAnthropicError } from '../src/gateway/providers/anthropic/map-error.ts'
import { mapError as mapCohereError } from '../src/gateway/providers/cohere/map-error.ts'
import { composeAnswer } from '../src/gateway/providers/offline/offline-provider.ts'
import { maximumErrorBytes } from '../src/gateway/providers/http-provider.ts'
import { mapError as mapOpenAiError } from '../src/gateway/providers/openai/map-error.ts'
import { createRedactor } from '../src/gateway/providers/redactor.ts'
import { analyseChunks, analyseQuery, analyseWithContext } from '../src/documents/retrieval/lexical/analyse-text.ts'
import { isNoAnswer, supports } from '../src/platform/evidence/index.ts'
import { languageOfText, splitSentences, tokenize } from '../src/platform/language/index.ts'
import type { Passage } from '../src/documents/retrieval/index.ts'
import { createCitationRewriter } from '../src/chat/chat/citations/citation-rewriter.ts'
import { selectQuote } from '../src/chat/chat/citations/select-quote.ts'
import { createAnswerFilter } from '../src/chat/chat/safety/answer-filter.ts'
import { createTargetPolicy, readAddresses } from '../src/chat/chat/safety/addresses.ts'
import { fencePassages } from '../src/chat/chat/context/prompt.ts'
import { createTokenCounter, estimateTokens, loadVocabulary } from '../src/gateway/tokens/index.ts'

/**
 * Every function of the main thread that reads text of clients, documents or providers takes linear time for texts that are the
 * worst case for regular expressions and loops: eight times the text takes about eight times as long. Quadratic work takes 64 times.
 */

const smallUnits = 5_000

const attacks = [
  '😀',
  'é',
  'я',
  'ω',
  'ا',
  'ationally',
  'ização',
  'ก',
  'ภาษาไทย',
  '漢',
  'a',
  'A',
  'aA',
  '7',
  ' ',
  '\n',
  '\t',
  ' \n',
  '\r\n',
  '\u0301',
  'e\u0301',
  '.',
  '-',
  '_',
  '#',
  '`',
  '[',
  ']',
  '[1',
  '[1]',
  '(',
  '<',
  '>',
  '/',
  '\\',
  '"',
  "'",
  "'s",
  ':',
  ',',
  '\u00ad',
  '\u200d',
  'ﷺ',
  '\ud800',
  '<source ',
  '<source id="1" title="',
  '<source id="1">a</source>',
  '</source',
  'https://a.b/',
  'http://',
  'www.a.b/',
  '[a](',
  '![',
  '&#104;',
  '<a ',
  '<title>',
  'a. ',
  '漢。',
  '.\n',
  'a b ',
  'word, ',
  'a | b\n',
  '{"a":',
  'sk-',
  'eyJ-',
  'eyJaaaaaaaa-',
  'Bearer ',
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN ',
  'AKIA',
  'ya29.',
  'data: ',
  'data:',
  'exceed ',
  'model ',
  'token count ',
  'model id',
  'credit ',
  'usage limit ',
  'try again in 1',
  'quota is of ',
  'exceeds the ',
]

const { count } = createTokenCounter(loadVocabulary())
const redact = createRedactor({
  id: 'p',
  format: 'openai',
  baseUrl: 'https://provider.test',
  apiKey: 'sk-aaaaaaaaaaaa',
})
const encoder = new TextEncoder()

const passage = (text: string): Passage =>
  ({
    chunkId: '1',
    documentId: '1' as never,
    documentName: text,
    url: null,
    text,
    headingPath: [text],
    tableHeader: text,
    pageFrom: 1,
    pageTo: 1,
    rowFrom: null,
    rowTo: null,
    score: 1,
  }) as unknown as Passage

/** Errors are accepted: only the time counts. */
const tolerant = (read: (text: string) => unknown) => async (text: string) => {
  try {
    await read(text)
  } catch {}
}

const readers: Record<string, (text: string) => unknown> = {
  'the token counter': count,
  'the token estimate': estimateTokens,
  'the offline model, of a question': (text) => composeAnswer([{ role: 'user', content: text }]),
  'the offline model, of passages': (text) =>
    composeAnswer([
      { role: 'system', content: `<source id="1" title="a">${text}` },
      { role: 'system', content: `<source id="1" title="a">${text.slice(0, 20_000)}</source>` },
      { role: 'user', content: text },
    ]),
  'the redactor': redact,
  'errors of the OpenAI family': (text) =>
    mapOpenAiError(
      { status: 400, headers: {}, body: JSON.stringify({ error: { message: text, code: text } }) },
      redact,
    ),
  // V8's JSON.parse takes more than linear time for open brackets, which the limit of an error's body bounds.
  'pages instead of errors': (text) =>
    mapOpenAiError({ status: 502, headers: {}, body: text.slice(0, maximumErrorBytes) }, redact),
  'errors of Anthropic': (text) =>
    mapAnthropicError(
      { status: 400, headers: {}, body: JSON.stringify({ error: { message: text } }) } as never,
      redact,
    ),
  'errors of Cohere': (text) =>
    mapCohereError({ status: 400, headers: {}, body: JSON.stringify({ message: text }) } as never, redact),
  'event streams in small reads': (text) => {
    const parser = new SseParser({ maximumEventBytes: 16_000_000 })
    const bytes = encoder.encode(text)
    for (let start = 0; start < bytes.length; start += 100) parser.push(bytes.subarray(start, start + 100))
    return parser.end()
  },
  'words of a chunk': (text) => tokenize(text, { singleCharacters: true }),
  sentences: (text) => splitSentences(text),
  'the language of a question': (text) => languageOfText(text),
  'whether an answer is only that there is none': (text) => isNoAnswer(text),
  'terms of a chunk': (text) => analyseChunks('space', [text]),
  'terms of a question': (text) => analyseQuery('space', text, { languages: ['en', 'de', 'fr'] }),
  'terms of a question after earlier turns': (text) =>
    analyseWithContext('space', text, [{ text, weight: 0.2 }], { languages: ['en', 'de', 'fr'] }),
  'document names': (text) => cleanName(text, 'name'),
  'document metadata': (text) => memberTexts(JSON.stringify({ notes: text, url: text })).get('url'),
  'format detection': (text) =>
    detectFormat({ fileName: text, head: encoder.encode(text).subarray(0, detectionHeadBytes) }),
  'the tags of a page': (text) => {
    const page = new HtmlPage({ scope: 'body', foundHidden() {}, foundPicture() {} })
    const tokenizer = new HtmlTokenizer(page)
    for (let start = 0; start < text.length; start += 1_000) tokenizer.write(text.slice(start, start + 1_000))
    tokenizer.finish()
    page.finish()
    return page.take()
  },
  'passages in a prompt': (text) => fencePassages([passage(text)], 'boundary'),
  'citation markers of an answer': (text) => {
    const rewriter = createCitationRewriter([{ documentId: '1', title: 'a', url: null }], { inline: true })
    for (let start = 0; start < text.length; start += 20) rewriter.push(text.slice(start, start + 20))
    rewriter.end()
    return rewriter.cited().map(({ markers }) => markers.map(({ cited }) => cited()))
  },
  'links and images of an answer': async (text) => {
    const addresses = await readAddresses([text])
    const filter = createAnswerFilter(createTargetPolicy({ addresses, passages: [passage(text)] }), 'secret')
    for (let start = 0; start < text.length; start += 20) filter.push(text.slice(start, start + 20))
    return filter.end()
  },
  'the support of a sentence': (text) => supports(text.slice(0, 600), { title: '', text }),
  'the amounts that a passage lists': (text) =>
    supports('Express costs 9 euros.', { title: '', text: `Standard costs 5 euros, express costs 9 euros, ${text}` }),
  'the claims of a sentence': (text) => supports(text, { title: '', text: 'A passage.' }),
  'the quote of a passage': (text) => selectQuote(text, text),
}

describe('time grows with the size of the text and no faster, for', () => {
  test.each(Object.entries(readers))('%s', { timeout: 300_000 }, async (_name, reader) => {
    const read = tolerant(reader)
    for (const attack of attacks) {
      // Alone, and with an end that makes a match fail.
      for (const end of ['', '\u0000x']) {
        const readUnits = (units: number) => read(attack.repeat(Math.ceil(units / attack.length)) + end)
        if (await isMeasurable(readUnits, smallUnits)) await expectLinear(readUnits, smallUnits, JSON.stringify(attack))
      }
    }
  })
})
