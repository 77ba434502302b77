/** A message of a chat request. */
export interface Message {
  role: 'user' | 'assistant'
  content: string
}

export interface CitedDocument {
  id: number
  title: string
  documentId: string
  url?: string | undefined
  passages?: readonly object[] | undefined
}

export interface UsedSource {
  source: string
  status: string
  count: number
  /** Null for a tool call without a valid query. */
  query: string | null
  milliseconds: number
}

/** `left`: the client closed its connection before the end. */
export type Outcome = 'complete' | 'failed' | 'left'

/** The conversation of a person in the console. */
export interface ChatOfPerson {
  id: string
  personId: string
}

/** A question to a Space, when it arrives. */
export interface AskedQuestion {
  requestId: string
  organisationId: string
  spaceId: string
  /** What the client states about its visitor; null: nothing. */
  user: string | null
  /** The last one is the question. */
  messages: readonly Message[]
  /** Of the Space; the model of the answer replaces it. */
  model: string
  /** Of a person in the console; absent: of a visitor of the published Space. */
  chat?: ChatOfPerson | undefined
}

/** What became of it. */
export interface GivenAnswer {
  outcome: Outcome
  /** Of a failed answer. */
  errorCode: string | null
  /** Of a failed answer, or of one that was left: what was written before. */
  text: string
  references: readonly CitedDocument[]
  sources: readonly UsedSource[]
  /** One for each call of the model; empty unless the answer is complete. */
  receipts: readonly { requestId: string; model: string; billedPicoUsd: bigint }[]
  /** From the request to the first text; null without text. */
  firstTextMs: number | null
  totalMs: number
}

/** A question with its answer, cut to the limits, without the messages that it repeats. */
export interface NewTurn extends Omit<AskedQuestion, 'messages' | 'chat'>, Omit<GivenAnswer, 'text' | 'receipts'> {
  /** Undefined: of a visitor. */
  chat: ChatOfPerson | undefined
  atMs: number
  /** Digests of the client's messages up to one of the earlier answers, the longest last, and the number of these messages. */
  known: readonly { chain: string; length: number }[]
  /** Digest of the messages with the answer. */
  chain: string
  /** The earlier messages that are within the limits: the last of them. `given[0]` is message `givenFrom` of the request. */
  given: readonly Message[]
  givenFrom: number
  question: string
  questionCut: boolean
  answer: string
  answerCut: boolean
  receipts: readonly string[]
  billedPicoUsd: bigint | null
  /** UTF-8 bytes of its texts and JSON; without those of `given`. */
  bytes: number
  givenBytes: number
}

/** A turn of a person in the console. */
export type OwnTurn = NewTurn & { chat: ChatOfPerson }
