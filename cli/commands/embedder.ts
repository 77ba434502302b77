import path from 'node:path'
import type { CliCommand } from '../define.ts'
import { runOffline } from '../offline.ts'

interface InstalledModel {
  id: string
  folder: string
  newFiles: string[]
  bytes: number
}

/** `portico embedder` */
export function addEmbedderCommands(program: CliCommand): void {
  program
    .command('embedder')
    .description('The local model for search by meaning.')
    .command('install')
    .description(
      'Fetch an open embedding model into the data folder (PORTICO_DATA_DIR). Every file is checked against its known hash. After an interruption, run it again: it continues.',
    )
    .argument('[model]', 'default: multilingual-e5-small (MIT, about 100 languages, 135 MB)')
    .option('--from <folder>', 'take the files from this folder instead of the internet')
    .option('--hub <url>', 'a mirror of https://huggingface.co')
    .examples('portico embedder install', 'portico embedder install --from ./multilingual-e5-small')
    .run(async (context, options: { from?: string; hub?: string }, model: string | undefined) => {
      const { output } = context
      const from = options.from && path.resolve(options.from)
      const installed = await runOffline<InstalledModel>(context, { task: 'embedder', model, from, hub: options.hub })
      output.result(installed, () => {
        const { id, folder, newFiles, bytes } = installed
        output.fields([
          ['model', id],
          ['folder', folder],
          ['size', `${(bytes / 1e6).toFixed(1)} MB, ${newFiles.length === 0 ? 'all of it was there' : 'checked'}`],
        ])
        output.line()
        output.line('To use it, run `npm run install:onnx` once, set these variables and start the service:')
        output.line(`PORTICO_EMBEDDER=onnx PORTICO_EMBEDDING_MODEL=${id}`)
      })
    })
}
