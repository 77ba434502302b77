import { Button } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { withTexts } from '../i18n/translations.ts'
import { Dimmed } from '../ui/dimmed.tsx'
import { lazyPart, OnceOpened } from '../ui/lazy-part.tsx'
import { useNavigationEntries } from './navigation-entries.ts'
import { areSingleKeysAllowed, searchKeys } from './single-keys.ts'

const SearchDialog = lazyPart(() => withTexts('palette', import('../pages/palette/search-dialog.tsx')), 'SearchDialog')
const ShortcutSheet = lazyPart(
  () => withTexts('palette', import('../pages/palette/shortcut-sheet.tsx')),
  'ShortcutSheet',
)

/** Time after G in which the key of a page is expected. */
const secondKeyMs = 1_500

/** The button of the search, and the shortcuts of all pages. */
export function Shortcuts({ organisationId }: { organisationId: string | undefined }) {
  const { t } = useTranslation()
  const [shown, show] = useState<'search' | 'keys' | null>(null)
  useShortcuts(organisationId, show)
  const props = { organisationId, onClose: () => show(null) }
  return (
    <>
      <Button
        fullWidth
        variant="subtle"
        color="gray"
        justify="space-between"
        my={4}
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={
          <Dimmed size="xs" visibleFrom="sm">
            {searchKeys()}
          </Dimmed>
        }
        styles={{ label: { flex: 1 } }}
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => show('search')}
      >
        <Dimmed>{t('navigation.search')}</Dimmed>
      </Button>
      <OnceOpened opened={shown === 'search'}>
        <SearchDialog {...props} opened={shown === 'search'} />
      </OnceOpened>
      <OnceOpened opened={shown === 'keys'}>
        <ShortcutSheet {...props} opened={shown === 'keys'} />
      </OnceOpened>
    </>
  )
}

function useShortcuts(organisationId: string | undefined, show: (what: 'search' | 'keys') => void): void {
  const navigate = useNavigate()
  const sections = useNavigationEntries(organisationId)
  /** When G was pressed, in ms. */
  const prefixAt = useRef(-Infinity)
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (isSearchKey(event)) {
      event.preventDefault()
      show('search')
      return
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isInUse(event) || !areSingleKeysAllowed()) return
    const isSecond = event.timeStamp - prefixAt.current < secondKeyMs
    prefixAt.current = event.key === 'g' && !isSecond ? event.timeStamp : -Infinity
    const page = isSecond && sections.flatMap(({ entries }) => entries).find(({ key }) => key === event.key)
    if (page) void navigate({ to: page.to as '/' })
    else if (event.key === '?') show('keys')
    else if (event.key === '/') searchField()?.focus()
    else return
    event.preventDefault()
  })
  useEffect(() => {
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}

function isSearchKey({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  return (ctrlKey || metaKey) && !altKey && !shiftKey && key.toLowerCase() === 'k'
}

/** Whether the key is for a field, a list of choices or a dialog. */
function isInUse({ target, defaultPrevented }: KeyboardEvent): boolean {
  if (defaultPrevented || document.querySelector('[role="dialog"], [role="alertdialog"]')) return true
  const owner = 'input, textarea, select, [contenteditable="true"], [role="menu"], [role="listbox"], [role="tree"]'
  return target instanceof Element && target.closest(owner) !== null
}

function searchField(): HTMLElement | null {
  return document.querySelector('#content input[type="search"]')
}
