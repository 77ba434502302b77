import { type ComponentType, lazy, type ReactNode, Suspense, useState } from 'react'

/** A part of a page whose code loads when it is first shown; put it into a Suspense or `OnceOpened`. */
export function lazyPart<Name extends string, Props extends object>(
  load: () => Promise<Record<Name, ComponentType<Props>>>,
  name: Name,
) {
  return lazy(async () => ({ default: (await load())[name] }))
}

/** Holds a lazy dialog: nothing until it is opened for the first time, then the dialog, so that it can fade out. */
export function OnceOpened({ opened, children }: { opened: boolean; children: ReactNode }) {
  const [wasOpened, setOpened] = useState(opened)
  if (opened && !wasOpened) setOpened(true)
  return wasOpened ? <Suspense>{children}</Suspense> : null
}
