"""Files that leads take away; under the leads' mount, so that the guard asks for the role."""

from __future__ import annotations

from fastapi import APIRouter

from evalbot.ui.lead.site import LeadSite


def download_routes(site: LeadSite) -> APIRouter:
    """`/lead/download/...`."""
    return APIRouter(prefix="/lead/download")
