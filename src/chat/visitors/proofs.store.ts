import type { OwnedDatabase } from '../../platform/database/index.ts'

export type ProofStore = ReturnType<typeof createProofStore>

export function createProofStore(database: OwnedDatabase) {
  return {
    /** Records a solved puzzle. False: it was recorded before. */
    async use(signature: string, expiresAt: Date, now: Date): Promise<boolean> {
      await database.execute(
        `DELETE FROM site_proofs WHERE signature IN (
           SELECT signature FROM site_proofs WHERE expires_at < $1 ORDER BY expires_at LIMIT 10 FOR UPDATE SKIP LOCKED)`,
        // Longer than clocks of instances differ.
        [new Date(now.getTime() - 600_000)],
      )
      const rows = await database.query(
        `INSERT INTO site_proofs (signature, expires_at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1`,
        [signature, expiresAt],
      )
      return rows.length > 0
    },
  }
}
