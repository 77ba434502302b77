/**
 * Of all random choices of tests. `npm test` and `npm run test:all` draw the same in each run, so that a verdict depends on the change alone;
 * `npm run test:proofs` draws new ones, and its proof `properties` repeats the property tests with them.
 */
export const testSeed = Number(process.env['PORTICO_TEST_SEED'] || 1)
