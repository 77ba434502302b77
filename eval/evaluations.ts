import { answerability } from './answerability.ts'
import { attribution } from './attribution.ts'
import { citations } from './citations.ts'
import { citationsInLanguages } from './citations-xquad.ts'
import { codeFences } from './code-fences.ts'
import { conversations } from './conversations.ts'
import { handbooks } from './handbooks.ts'
import { injection } from './injection.ts'
import type { Evaluation } from './measure.ts'
import { passages } from './passages.ts'
import { statements } from './statements.ts'
import { tables } from './tables.ts'
import { xquad } from './xquad.ts'

/** Every evaluation of `npm run eval:answers`, in the order of its output. */
export const evaluations: readonly Evaluation[] = [
  conversations,
  passages,
  answerability,
  xquad,
  handbooks,
  citations,
  citationsInLanguages,
  statements,
  attribution,
  codeFences,
  injection,
  tables,
]
