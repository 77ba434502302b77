import { lazy, Suspense, useSyncExternalStore } from 'react'
import type { Overlays } from './overlay-host.tsx'

/** Confirmations and notifications: their code is loaded when the first of them is shown. */

const OverlayHost = lazy(() => import('./overlay-host.tsx').then(({ OverlayHost: Host }) => ({ default: Host })))

let setReady: (ready: Overlays) => void
const ready = new Promise<Overlays>((resolve) => (setReady = resolve))
let isWanted = false
const listeners = new Set<() => void>()

/** Shows something in the overlays, once they are on the page. */
export function withOverlays(show: (overlays: Overlays) => void): void {
  isWanted = true
  for (const listener of listeners) listener()
  void ready.then(show)
}

/** Belongs into the page once. */
export function OverlayPlace() {
  const shown = useSyncExternalStore(subscribe, () => isWanted)
  return shown ? (
    <Suspense>
      <OverlayHost onReady={setReady} />
    </Suspense>
  ) : null
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
