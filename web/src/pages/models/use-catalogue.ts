import { useQueryClient } from '@tanstack/react-query'
import { getJson, patchJson } from '../../api/client.ts'
import { changeOneField } from '../../ui/conflict/change-one-field.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { useChange } from '../../ui/use-change.ts'
import { catalogueKey } from './routes.tsx'

/** A change of the catalogue. An error is shown as a notification, or by the form that states `hasErrorPlace`. */
export function useCatalogueChange<Result, Input = void>(
  run: (input: Input) => Promise<Result>,
  done?: () => string,
  { hasErrorPlace = false } = {},
) {
  return useChange(run, { stale: catalogueKey, done, hasErrorPlace })
}

/** Loads an entry of the catalogue, after what the pages show: their form is filled from the newer of both. */
export function useFreshEntry() {
  const queryClient = useQueryClient()
  return async <Body>(path: string): Promise<Body> => {
    await queryClient.invalidateQueries({ queryKey: catalogueKey })
    return getJson<Body>(path)
  }
}

/** The switch of an entry of the catalogue. */
export function useEnable(path: string, view: { version: string }) {
  const load = useFreshEntry()
  return useCatalogueChange((enabled: boolean) =>
    changeOneField({
      view,
      send: (base) => patchJson(path, { enabled }, ifMatch(base)),
      load: () => load<{ version: string }>(path),
    }),
  )
}
