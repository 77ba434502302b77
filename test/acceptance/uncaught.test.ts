import { once } from 'node:events'
import { expect, it } from 'vitest'
import { freshDataFolder } from '../harness/database.ts'
import { removeFolder, spawnPortico } from '../harness/portico.ts'

const ways = {
  'an uncaught exception': 'throw new Error("planned fault")',
  'an unhandled rejection': 'void Promise.reject(new Error("planned fault"))',
}

for (const [what, statement] of Object.entries(ways)) {
  it(`${what} is logged and ends the process with a code other than 0, so that a supervisor restarts it`, async () => {
    const dataFolder = await freshDataFolder()
    const fault = encodeURIComponent(`process.on('SIGUSR2', () => { ${statement} })`)
    const { child, output } = await spawnPortico({
      PORTICO_DATA_DIR: dataFolder,
      PORTICO_DEMO: 'false',
      PORTICO_OPERATOR_TOKEN: 'operator-token-of-the-fault-tests',
      NODE_OPTIONS: `--import=data:text/javascript,${fault}`,
    })
    const ended = once(child, 'exit')
    child.kill('SIGUSR2')
    expect(await ended).toEqual([1, null])
    expect(output()).toMatch(/"level":"error".*planned fault.*uncaught exception/)
    await removeFolder(dataFolder)
  }, 60_000)
}
