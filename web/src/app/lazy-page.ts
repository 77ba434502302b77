import { lazyRouteComponent } from '@tanstack/react-router'
import { withTexts } from '../i18n/translations.ts'

/** The component of a route: its code and the texts of these namespaces load when the page is first opened. */
export const lazyPage = <Module extends Record<string, unknown>, Name extends keyof Module>(
  namespaces: string | string[],
  load: () => Promise<Module>,
  name: Name,
) => lazyRouteComponent(() => withTexts(namespaces, load()), name)
