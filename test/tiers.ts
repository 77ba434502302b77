import { configDefaults } from 'vitest/config'

/**
 * Which run has which test files. The name or the folder of a file decides, so a file is in exactly one of: quick, slow, acceptance, proof,
 * console. test/README.md has the rules.
 */
const folders = '{src,cli,web,bench,eval,scripts,test}'
const tests = `${folders}/**/*.test.ts`
const proofs = `${folders}/**/*.proof.test.ts`
const slow = `${folders}/**/*.slow.test.ts`
const acceptance = 'test/acceptance/**'
const console = 'test/console/**'

export const tiers = {
  /** `npm test` */
  quick: { include: [tests], exclude: [...configDefaults.exclude, proofs, slow, acceptance, console] },
  /** `npm run test:all` */
  all: { include: [tests], exclude: [...configDefaults.exclude, proofs, console] },
  /** `npm run test:proofs` */
  proofs: { include: [proofs], exclude: configDefaults.exclude },
}
