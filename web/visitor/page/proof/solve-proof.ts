import type { Proof, ProofChallenge } from '@contract/site-visits.ts'

/** Solves the puzzle of the server in a worker, so that the page stays responsive. */
export function solveProof(challenge: ProofChallenge): Promise<Proof['solution']> {
  const worker = new Worker(new URL('./proof-worker.ts', import.meta.url), { type: 'module' })
  return new Promise<Proof['solution']>((resolve, reject) => {
    worker.addEventListener('message', ({ data }: MessageEvent<Proof['solution'] | null>) =>
      data ? resolve(data) : reject(new Error('the puzzle has no solution')),
    )
    worker.addEventListener('error', ({ message }) => reject(new Error(message)))
    worker.postMessage(challenge, [])
  }).finally(() => worker.terminate())
}
