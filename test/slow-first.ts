import path from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const isSlow = ({ moduleId }: TestSpecification) =>
  moduleId.endsWith('.slow.test.ts') || moduleId.includes(path.join('test', 'acceptance'))

/**
 * The order of the files of a project: the slow tiers first, so that no core waits for a long file at the end. Within a tier the order is
 * that of vitest: by the time of the last run, in a fresh clone by size.
 */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const projects = [...new Set(sorted.map(({ project }) => project))]
    return projects.flatMap((project) => {
      const own = sorted.filter((file) => file.project === project)
      return [...own.filter(isSlow), ...own.filter((file) => !isSlow(file))]
    })
  }
}
