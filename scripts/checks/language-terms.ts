/**
 * The words that Portico does not use, each with its replacement. A pattern is written with single spaces; a space matches any
 * white space, so a phrase is also found across a line break. Case is ignored.
 */
export interface Term {
  /** Matches in prose: comments, documents, messages, test titles. */
  prose?: RegExp
  /** Matches a declared name or a file name, split into lower-case words: `wordScore` is `word score`. */
  name?: RegExp
  /** What to write. */
  write: string
  /** Limits the term to these paths. */
  only?: RegExp
  /** Exempts these paths. */
  except?: RegExp
}

export const terms: Term[] = [
  { prose: /\banew\b/, write: 'again, rebuild, reload' },
  {
    prose: /\b(?:tells?|told|telling)\b/,
    name: /^tells?\b/,
    write: 'receives, reports, notifies, returns; post; distinguish',
  },
  {
    prose: /(?<!\b(?:message|guide|documentation|page|header|comment|specification)s? )\b(?:says?|said|saying)\b/,
    name: /^says?\b/,
    write: 'reports, returns, states, means',
  },
  { name: /^look\b(?! (?:up|ahead|behind)\b)/, write: 'refresh, find, inspect' },
  { prose: /\badopt(?:s|ed|ing)?\b/, name: /^adopt/, write: 'apply' },
  { prose: /\bbeside\b/, name: /\bbeside\b/, write: 'next to, alongside; compared with' },
  { prose: /\b(?:stands?|stood)\b(?! for\b)|\bstanding in\b/, write: 'is in, is stored in; replaces' },
  { prose: /\blies\b|\blie (?:in|on|at|below|above|under|within|outside)\b/, write: 'is in, is stored in' },
  { prose: /\bof (?:its|their|his|her|our|my|one's) own\b/, write: 'separate, dedicated' },
  { prose: /\bbooks\b|\bwhat holds\b/, write: 'totals match; current state' },
  { prose: /\basked last\b|\blast asked\b|\blongest ago\b/, write: 'least recently used, most recently used' },
  { prose: /\b(?:is|are|be) met (?:where|when|by)\b/, write: 'is handled by' },
  { prose: /\blook(?:s|ed|ing)? after\b/, write: 'maintain' },
  { prose: /\b(?:is|are|be|been|was|were) taken for\b/, write: 'considered, presumed' },
  { prose: /\bput(?:s|ting)? right\b|\bmend(?:s|ed|ing)?\b/, name: /^mends?\b/, write: 'repair, fix' },
  { prose: /(?<!source of )\btruth\b(?! value)/, write: 'is the source of truth' },
  { prose: /\b(?:go|goes|going|went|gone) (?:on|by)\b(?! (?:to|with) )/, write: 'continues; uses' },
  {
    prose:
      /\bword(?:-| )(?:scores?|search(?:es)?|ranks?|ranking|index(?:es)?|match(?:es)?|hits?|halves|half)\b|\b(?:finds?|found|answer(?:s|ed)?|match(?:es|ed)?|best) by words\b/,
    name: /\bword (?:score|search|rank|index|match|hit|half|postings?)\b/,
    write: 'lexical, lexicalScore (BM25)',
  },
  {
    prose: /(?<!text |answer |token )\bgenerations?\b/,
    name: /\bgenerations?\b/,
    write: 'embedding version',
    only: /^(?:src\/(?:documents\/(?:retrieval|ingestion)|app\/service)\/|bench\/(?:search|retrieval|memory)|docs\/understand\/retrieval\.md)/,
  },
  {
    prose: /(?<!\bMB )\bresident\b(?!,? (?:memory|set|size|pages?|bytes|MB)\b)/,
    name: /\bresidents?\b(?! (?:memory|set|size|bytes|mib|mb)\b)/,
    write: 'in-memory index',
  },
  { prose: /\bcutters?\b/, name: /\bcutters?\b/, write: 'redactor' },
  {
    prose: /\bheedless(?:ly)?\b|\bpatien(?:ce|t|tly)\b|\bpolite(?:ly)?\b/,
    name: /\b(?:heedless|patience|patient|polite)\b/,
    write: 'unbounded; retries with backoff; reject',
  },
  {
    prose: /\baccounts?\b(?! for\b)/,
    name: /\baccounts?\b/,
    write: 'lease',
    only: /^(?:src\/gateway\/billing\/|bench\/ledger|scripts\/ledger-proof\/)/,
  },
  {
    name: /^settle[sd]?\b/,
    write: 'finish, complete, end: only the ledger settles',
    except:
      /^(?:src\/(?:gateway\/(?:billing|gateway)\/|contract\/usage|app\/parts\/scrape)|scripts\/ledger-proof|test\/harness\/ledger-crash\/|bench\/(?:ledger|gateway\/))/,
  },
  { prose: /\bwhoever\b|\bsomebody\b/, write: 'the name of the part that acts' },
  { prose: /\bknows? (?:nobody|no|nothing)\b/, write: 'does not import, does not use' },
]

/** Paths that are not checked, each with the reason. */
export const excluded: { paths: RegExp; reason: string }[] = [
  { paths: /^scripts\/checks\/language/, reason: 'the terms and the examples of this check' },
  { paths: /^src\/platform\/database\/migrations\//, reason: 'a migration is never edited once it has landed' },
  { paths: /\/testing\/test-sentences/, reason: 'running text in 30 languages' },
  { paths: /\/fixtures\//, reason: 'recorded bytes and texts of test documents' },
]

/**
 * Where string literals are also texts of documents, questions, prompts or recorded bytes: there, of all strings, only test titles,
 * errors and printed lines are checked.
 */
export const stringsAreData =
  /\.test\.ts$|fixture|(?:^|\/)testing\/|^(?:bench|scripts|test)\/|^src\/chat\/chat\/(?:context\/prompt|tools\/)|^src\/platform\/(?:evidence|language)\//
