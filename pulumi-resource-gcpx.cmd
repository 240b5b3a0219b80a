@echo off
rem The counterpart of pulumi-resource-gcpx for Windows.
if exist "%~dp0venv\Scripts\python.exe" ("%~dp0venv\Scripts\python.exe" "%~dp0." %*) else (python "%~dp0." %*)
