/** A file that a person chose or dropped, with the folder in which it was. */
export interface ChosenFile {
  file: File
  /** `contracts/2026`; empty for a single file. */
  path: string
}

/** Files of one selection; more would take hours, and the browser memory. */
export const maximumChosenFiles = 20_000

/** Files that systems put into folders. */
const isHidden = (name: string) => name.startsWith('.') || name === 'Thumbs.db' || name === 'desktop.ini'

/** Files of `<input type=file>`, also of one with `webkitdirectory`. */
export function filesOfInput(list: FileList): ChosenFile[] {
  return [...list].slice(0, maximumChosenFiles).flatMap((file) => {
    const parts = file.webkitRelativePath.split('/').slice(0, -1)
    return isHidden(file.name) || parts.some(isHidden) ? [] : [{ file, path: parts.join('/') }]
  })
}

/** Files of a drop, with those of dropped folders. Call it in the event: the browser empties the transfer afterwards. */
export function filesOfDrop(transfer: DataTransfer): Promise<ChosenFile[]> {
  const items = [...transfer.items].filter(({ kind }) => kind === 'file')
  const entries = items.flatMap((item) => item.webkitGetAsEntry() ?? [])
  // Files that do not come from a file system, for example from a mail program, have no entry.
  if (entries.length === 0) return Promise.resolve(items.flatMap((item) => toChosen(item.getAsFile())))
  return readEntries(entries)
}

const toChosen = (file: File | null): ChosenFile[] => (file ? [{ file, path: '' }] : [])

async function readEntries(entries: FileSystemEntry[]): Promise<ChosenFile[]> {
  const chosen: ChosenFile[] = []
  const open = entries.map((entry) => ({ entry, path: '' }))
  for (let next = open.shift(); next && chosen.length < maximumChosenFiles; next = open.shift()) {
    const { entry, path } = next
    if (isHidden(entry.name)) continue
    if (entry.isFile) chosen.push({ file: await fileOf(entry as FileSystemFileEntry), path })
    else {
      const inner = path === '' ? entry.name : `${path}/${entry.name}`
      for (const child of await childrenOf(entry as FileSystemDirectoryEntry)) open.push({ entry: child, path: inner })
    }
  }
  return chosen
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}

/** A reader returns about 100 entries at a time. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const children: FileSystemEntry[] = []
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0 || children.length >= maximumChosenFiles) return children
    children.push(...some)
  }
}
