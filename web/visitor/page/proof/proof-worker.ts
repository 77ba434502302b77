import { solveChallenge } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/web/pbkdf2'
import type { ProofChallenge } from '@contract/site-visits.ts'

/** Gets a challenge, and answers with its solution, or null after 90 seconds without one. */
addEventListener('message', ({ data: challenge }: MessageEvent<ProofChallenge>) => {
  void solveChallenge({ challenge, deriveKey }).then((solution) =>
    postMessage(solution && { counter: solution.counter, derivedKey: solution.derivedKey }, { transfer: [] }),
  )
})
