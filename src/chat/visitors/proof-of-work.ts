import { createHmac } from 'node:crypto'
import { createChallenge, verifySolution } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import type { Proof, ProofChallenge } from '../../contract/site-visits.ts'
import { AppError, type Clock } from '../../platform/kernel/index.ts'
import type { ProofStore } from './proofs.store.ts'
import type { Site } from './site.ts'

const validMs = 5 * 60_000
/** Rounds of PBKDF2 of one attempt; a browser needs 256 attempts on average, about half a second on a phone. */
const usualCost = 1_000
/** One byte: 256 attempts. */
const keyPrefix = '00'

export type ProofOfWork = ReturnType<typeof createProofOfWork>

/**
 * Puzzles for browsers of visitors, as https://altcha.org describes them: signed, valid for five minutes, for one site, and once on all
 * instances. `secretKeys`: the current one first.
 */
export function createProofOfWork({
  store,
  secretKeys,
  clock,
}: {
  store: ProofStore
  secretKeys: readonly string[]
  clock: Clock
}) {
  const keys = secretKeys.map((key) => createHmac('sha256', key).update('portico proof of work v1').digest('base64url'))

  return {
    /** `pressure`: each step doubles the work. */
    async challenge({ publicId }: Site, pressure: number): Promise<ProofChallenge> {
      const challenge = await createChallenge({
        algorithm: 'PBKDF2/SHA-256',
        cost: usualCost * 2 ** Math.max(0, pressure - 1),
        keyPrefix,
        deriveKey,
        data: { site: publicId },
        expiresAt: Math.ceil((clock.now() + validMs) / 1000),
        hmacSignatureSecret: keys[0]!,
      })
      return challenge as ProofChallenge
    },
    /** Throws `proof_of_work_required` unless the puzzle is of this site, solved, in time, and used for the first time. */
    async use({ publicId }: Site, proof: Proof | undefined): Promise<void> {
      if (!proof) throw required('Solve the puzzle of this chat first.')
      const { challenge, solution } = proof
      const { expiresAt, data } = challenge.parameters
      if (data.site !== publicId) throw required('The puzzle is of another chat.')
      if (expiresAt * 1000 < clock.now()) throw required('The puzzle is too old. Solve a new one.')
      if (!(await isSolved(challenge, solution))) throw required('The puzzle is not solved.')
      const isFirst = await store.use(challenge.signature, new Date(expiresAt * 1000), new Date(clock.now()))
      if (!isFirst) throw required('The puzzle was used before. Solve a new one.')
    },
  }

  async function isSolved(challenge: ProofChallenge, solution: Proof['solution']): Promise<boolean> {
    for (const hmacSignatureSecret of keys) {
      // The signature is compared before the key is derived, so a forged puzzle costs one digest.
      const { verified } = await verifySolution({ challenge, solution, deriveKey, hmacSignatureSecret })
      if (verified) return true
    }
    return false
  }
}

const required = (message: string) => new AppError('proof_of_work_required', message)
