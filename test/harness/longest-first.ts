import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that take a minute or more and are short, so that Vitest would begin them last, and one worker would wait for them alone. Tests with
 * large files come next, as Vitest orders them.
 */
const first = [
  'test/chaos/chaos.test.ts',
  'test/acceptance/ledger-instances.test.ts',
  'eval/shared-data.test.ts',
  'src/database/server/pooler.test.ts',
  'test/acceptance/golden-runs-crash.test.ts',
  'test/acceptance/replacing-instances.test.ts',
  'test/acceptance/memory.test.ts',
  'scripts/ledger-proof/proof.test.ts',
  'test/console/quality.test.ts',
]

/** The order in which a run begins its test files. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isFirst = ({ moduleId }: TestSpecification) => first.some((file) => moduleId.endsWith(`/${file}`))
    return [...sorted.filter(isFirst), ...sorted.filter((file) => !isFirst(file))]
  }
}
