import '@mantine/core/styles/Pill.css'
import '@mantine/core/styles/PillsInput.css'
import { MultiSelect } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { DocumentProgressPageBody } from '@contract/document-progress.ts'
import type { goldenLimits } from '@contract/golden-questions.ts'
import { jsonQuery, withQuery } from '../../api/queries.ts'

export interface ChosenDocument {
  id: string
  name: string
}

/** As the server checks it. */
const maximumDocuments: (typeof goldenLimits)['expectedDocuments'] = 20
const shownDocuments = 20
const typingMs = 250

/** Documents of the Space, found by a part of the name. */
export function DocumentChoice(props: {
  spaceId: string
  chosen: ChosenDocument[]
  onChange: (documents: ChosenDocument[]) => void
  error: string | undefined
}) {
  const { spaceId, chosen, onChange, error } = props
  const { t } = useTranslation('golden-questions')
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed.trim(), typingMs)
  const { data } = useQuery(
    jsonQuery<DocumentProgressPageBody>(
      ['document-choice', spaceId, search],
      withQuery(`/api/spaces/${spaceId}/documents`, { limit: shownDocuments, sort: 'name', search }),
      { placeholderData: keepPreviousData, staleTime: 30_000 },
    ),
  )
  const known = new Map([...chosen, ...(data?.items ?? [])].map(({ id, name }) => [id, name]))
  return (
    <MultiSelect
      label={t('form.documents')}
      description={t('form.documentsHint')}
      placeholder={chosen.length === 0 ? t('form.documentsSearch') : ''}
      data={[...known].map(([value, label]) => ({ value, label }))}
      value={chosen.map(({ id }) => id)}
      onChange={(ids) => onChange(ids.map((id) => ({ id, name: known.get(id) ?? id })))}
      searchValue={typed}
      onSearchChange={setTyped}
      searchable
      maxValues={maximumDocuments}
      nothingFoundMessage={t('form.noDocument')}
      maxDropdownHeight={240}
      error={error}
      hidePickedOptions
    />
  )
}
