import { parentPort, workerData } from 'node:worker_threads'
import type { FromTokenThread, TokenThreadData, ToTokenThread } from './token-counting.ts'
import { createTokenCounter, loadVocabulary } from './token-counter.ts'

/** The thread in which large texts are counted. */
const vocabulary = (workerData as TokenThreadData) ?? loadVocabulary()
const counter = createTokenCounter(vocabulary)
const post = (message: FromTokenThread) => parentPort!.postMessage(message, [])

post({ type: 'vocabulary', vocabulary })
parentPort!.on('message', (texts: ToTokenThread) =>
  post({ type: 'counted', counts: texts.map((text) => counter.count(text)) }),
)
