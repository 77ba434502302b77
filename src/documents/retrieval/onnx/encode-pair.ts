import type { Tokenizer } from './onnx-model-files.ts'

/** Tokens as a model reads them; `types` states which text of a pair each is of. */
export interface TokenSequence {
  ids: number[]
  types: number[]
}

/** The special tokens around and between two texts, and the segment ids of the texts. */
interface PairTemplate {
  head: TokenSequence
  middle: TokenSequence
  tail: TokenSequence
  types: [first: number, second: number]
}

/** Of the room of a pair, what a query gets at most: the rest is for the passage. */
const queryShare = 0.5

/** Encodes a query with each document. A query that is too long loses its middle, a document its end. Throws if the tokenizer joins no pairs. */
export function createPairEncoder(tokenizer: Tokenizer, maximumTokens: number) {
  const { head, middle, tail, types } = readTemplate(tokenizer)
  const room = maximumTokens - head.ids.length - middle.ids.length - tail.ids.length
  return (query: string, documents: readonly string[]): TokenSequence[] => {
    const asked = cutMiddle(tokensOf(tokenizer, query), Math.floor(room * queryShare))
    return documents.map((document) => {
      const read = tokensOf(tokenizer, document).slice(0, room - asked.length)
      return {
        ids: [...head.ids, ...asked, ...middle.ids, ...read, ...tail.ids],
        types: [
          ...head.types,
          ...asked.map(() => types[0]),
          ...middle.types,
          ...read.map(() => types[1]),
          ...tail.types,
        ],
      }
    })
  }
}

/** Reads the template from an encoded pair, because each family of tokenizers writes it in its own form. */
function readTemplate(tokenizer: Tokenizer): PairTemplate {
  const probe = 'a'
  const text = tokensOf(tokenizer, probe)
  const encoded = tokenizer.encode(probe, { text_pair: probe, return_token_type_ids: true })
  const ids = [...encoded.ids]
  const types = encoded.token_type_ids.length === ids.length ? [...encoded.token_type_ids] : ids.map(() => 0)
  const first = indexOf(ids, text, 0)
  const second = first < 0 ? -1 : indexOf(ids, text, first + text.length)
  if (text.length === 0 || second < 0) throw new Error('the tokenizer of the model does not join pairs of texts')
  const part = (from: number, to: number) => ({ ids: ids.slice(from, to), types: types.slice(from, to) })
  return {
    head: part(0, first),
    middle: part(first + text.length, second),
    tail: part(second + text.length, ids.length),
    types: [types[first]!, types[second]!],
  }
}

function tokensOf(tokenizer: Tokenizer, text: string): number[] {
  return [...tokenizer.encode(text, { add_special_tokens: false }).ids]
}

function indexOf(ids: readonly number[], part: readonly number[], from: number): number {
  for (let start = from; start + part.length <= ids.length; start++) {
    if (part.every((id, offset) => ids[start + offset] === id)) return start
  }
  return -1
}

function cutMiddle(ids: number[], most: number): number[] {
  if (ids.length <= most) return ids
  const half = Math.floor(most / 2)
  return [...ids.slice(0, most - half), ...ids.slice(ids.length - half)]
}
