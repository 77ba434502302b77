import { Box, Modal, Stack, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Dimmed } from '../../ui/dimmed.tsx'
import { type Result, useSearchResults } from './search-results.ts'

const typingMs = 150

interface Props {
  opened: boolean
  onClose: () => void
  organisationId: string | undefined
}

/** Finds pages, Spaces, documents, organisations and receipts by name or id, and opens the chosen one. */
export function SearchDialog({ opened, onClose, organisationId }: Props) {
  const { t } = useTranslation('palette')
  return (
    <Modal opened={opened} onClose={onClose} title={t('title')} size="lg" yOffset="10dvh">
      <Search organisationId={organisationId} onChosen={onClose} />
    </Modal>
  )
}

/** A combobox: the focus stays in the field, and the arrow keys move through the list. */
function Search({ organisationId, onChosen }: { organisationId: string | undefined; onChosen: () => void }) {
  const { t } = useTranslation('palette')
  const navigate = useNavigate()
  const id = useId()
  const [text, setText] = useState('')
  const [wanted] = useDebouncedValue(text.trim(), typingMs)
  const groups = useSearchResults(wanted, organisationId)
  const results = groups.flatMap((group) => group.results)
  const [chosen, setChosen] = useState(0)
  const active = Math.min(chosen, results.length - 1)
  const optionId = (index: number) => `${id}-${index}`
  useEffect(() => {
    document.getElementById(optionId(active))?.scrollIntoView({ block: 'nearest' })
  }, [active])
  const open = (result: Result | undefined) => {
    if (!result) return
    onChosen()
    void navigate({ to: result.to as '/' })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const next = nextIndex(event.key, active, results.length)
    if (event.key === 'Enter') open(results[active])
    else if (next !== undefined) setChosen(next)
    else return
    event.preventDefault()
  }
  return (
    <Stack gap="xs">
      <TextInput
        data-autofocus
        role="combobox"
        aria-expanded
        aria-controls={id}
        aria-activedescendant={results.length > 0 ? optionId(active) : undefined}
        aria-label={t('placeholder')}
        placeholder={t('placeholder')}
        leftSection={<IconSearch size={16} aria-hidden />}
        value={text}
        maxLength={200}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id={id} role="listbox" aria-label={t('results')}>
        {groups.map(({ title, results: ofGroup }) => (
          <div key={title} role="group" aria-label={title}>
            <Dimmed size="xs" fw={600} px="sm" pt={6}>
              {title}
            </Dimmed>
            {ofGroup.map((result) => {
              const index = results.indexOf(result)
              return (
                <Option key={result.to} id={optionId(index)} isActive={index === active} onChoose={() => open(result)}>
                  {result.label}
                </Option>
              )
            })}
          </div>
        ))}
      </div>
      <Dimmed size="xs" px="sm" aria-live="polite">
        {results.length === 0 ? t('nothing') : t('hint')}
      </Dimmed>
    </Stack>
  )
}

interface OptionProps {
  id: string
  isActive: boolean
  onChoose: () => void
  children: string
}

function Option({ id, isActive, onChoose, children }: OptionProps) {
  return (
    <Box
      id={id}
      role="option"
      aria-selected={isActive}
      px="sm"
      py={6}
      fz="sm"
      bg={isActive ? 'var(--mantine-color-default-hover)' : undefined}
      style={{ borderRadius: 'var(--mantine-radius-sm)', cursor: 'pointer', overflowWrap: 'anywhere' }}
      onClick={onChoose}
    >
      {children}
    </Box>
  )
}

/** Undefined for a key that does not move through the list. */
function nextIndex(key: string, active: number, count: number): number | undefined {
  if (count === 0) return undefined
  if (key === 'ArrowDown') return (active + 1) % count
  if (key === 'ArrowUp') return (active + count - 1) % count
  return undefined
}
